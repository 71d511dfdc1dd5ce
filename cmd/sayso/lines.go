package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/sayso-dev/sayso"
)

// eachLine calls do for each line of the input, without the blanks around it that
// JSON knows. A line of blanks alone counts where another line follows, so that
// answers and lines can be told apart by number; at the end it is nothing. A line
// that is longer than a call may be is cut there, so that it cannot be read, and
// the rest of it is passed over.
func (a *app) eachLine(ctx context.Context, do func(line []byte) error) error {
	r := bufio.NewReaderSize(stoppable{ctx, a.in}, 64<<10)
	empty := 0
	for {
		line, err := readLine(r)
		if line = bytes.Trim(line, " \t\r\n"); len(line) == 0 {
			empty++
		} else {
			for ; empty > 0; empty-- {
				if err := do(nil); err != nil {
					return err
				}
			}
			if err := do(line); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the input: %w", err)
		}
	}
}

func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line) <= sayso.MaxCall {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// stoppable is an input whose reads end with ctx: whoever should write to it may
// never do so. A read that is left behind ends with the program.
type stoppable struct {
	ctx context.Context
	r   io.Reader
}

func (s stoppable) Read(p []byte) (int, error) {
	type result struct {
		text []byte
		err  error
	}
	read := make(chan result, 1)
	go func() {
		buf := make([]byte, len(p))
		n, err := s.r.Read(buf)
		read <- result{buf[:n], err}
	}()
	select {
	case got := <-read:
		return copy(p, got.text), got.err
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	}
}
