package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/sayso-dev/sayso"
)

// eachLine calls do for each line of the input that is not blank. A line that is
// longer than a call may be is cut there, so that it cannot be read, and the
// rest of it is passed over.
func (a *app) eachLine(do func(line []byte) error) error {
	r := bufio.NewReaderSize(a.in, 64<<10)
	for {
		line, err := readLine(r)
		if line = bytes.TrimSpace(line); len(line) > 0 {
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
