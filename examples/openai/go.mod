module github.com/sayso-dev/sayso/examples/openai

go 1.26.0

require (
	github.com/openai/openai-go/v3 v3.95.0
	github.com/sayso-dev/sayso v0.0.0
)

require (
	github.com/aymanbagabas/go-udiff v0.4.1 // indirect
	github.com/coder/websocket v1.8.15 // indirect
	github.com/gabriel-vasile/mimetype v1.4.16 // indirect
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // indirect
	github.com/sergi/go-diff v1.4.0 // indirect
	github.com/tidwall/gjson v1.20.0 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.1 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	mvdan.cc/sh/v3 v3.14.1 // indirect
)

replace github.com/sayso-dev/sayso => ../..
