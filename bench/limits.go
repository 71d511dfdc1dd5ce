package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// limits are what nothing on this machine can be faster than.
type limits struct {
	sync float64 // F: one 4 KiB append made durable, p50, in seconds
	trip float64 // H: one HTTP round trip on loopback, p50, in seconds
}

func (w *world) measureLimits() (l limits, err error) {
	if l.sync, err = w.measureSync(); err != nil {
		return l, fmt.Errorf("measuring F: %w", err)
	}
	if l.trip, err = w.measureTrip(); err != nil {
		return l, fmt.Errorf("measuring H: %w", err)
	}
	return l, nil
}

// measureSync appends 4 KiB to a file and makes them durable, again and again.
func (w *world) measureSync() (float64, error) {
	f, err := os.Create(filepath.Join(w.dir, "sync"))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	page, took := make([]byte, 4096), durations{}
	for range w.few(2000, 20) {
		from := time.Now()
		if _, err := f.Write(page); err != nil {
			return 0, err
		}
		if err := syncData(f); err != nil {
			return 0, err
		}
		took = append(took, time.Since(from))
	}
	return took.at(0.5), os.Remove(f.Name())
}

// measureTrip posts 300 bytes to a server in another process and reads 300, on
// a connection that is kept.
func (w *world) measureTrip() (float64, error) {
	p, err := w.start(roleEcho, struct{}{})
	if err != nil {
		return 0, err
	}
	defer p.stop()
	var at ready
	if err := p.read(&at); err != nil {
		return 0, err
	}
	body, took := bytes.Repeat([]byte("x"), 300), durations{}
	for range w.few(5000, 50) {
		from := time.Now()
		resp, err := http.Post(at.HTTP, "application/json", bytes.NewReader(body))
		if err != nil {
			return 0, err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		if err := resp.Body.Close(); err != nil {
			return 0, err
		}
		if err != nil {
			return 0, err
		}
		took = append(took, time.Since(from))
	}
	return took.at(0.5), nil
}

// echo is the other end of measureTrip.
func echo(c *child) error {
	ctx, err := c.begin(&struct{}{}, nil)
	if err != nil {
		return err
	}
	l, err := listen(ctx)
	if err != nil {
		return err
	}
	s := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.Copy(w, r.Body) // the client sees what is missing
	})}
	go func() { // ends with the server
		<-ctx.Done()
		_ = s.Close() // the process ends
	}()
	if err := c.write(ready{HTTP: "http://" + l.Addr().String()}); err != nil {
		return err
	}
	if err := s.Serve(l); err != http.ErrServerClosed {
		return err
	}
	return nil
}
