//go:build !linux

package main

import "os"

func syncData(f *os.File) error { return f.Sync() }

// fileSystem cannot be told here.
func fileSystem(string) (string, error) { return "not known on this system", nil }
