package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/sayso-dev/sayso/internal/modelstub"
)

// usage: stubd port script.json reqdir ; script = [[{id,name,input}],...] or "text"
func main() {
	b, _ := os.ReadFile(os.Args[2])
	var raw []json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		panic(err)
	}
	var turns []modelstub.Turn
	for _, r := range raw {
		var s string
		if json.Unmarshal(r, &s) == nil {
			turns = append(turns, modelstub.Say(s))
			continue
		}
		var cs []struct {
			ID, Name string
			Input    json.RawMessage
		}
		if err := json.Unmarshal(r, &cs); err != nil {
			panic(err)
		}
		var calls []modelstub.Call
		for _, c := range cs {
			calls = append(calls, modelstub.Call{ID: c.ID, Name: c.Name, Input: string(c.Input)})
		}
		turns = append(turns, modelstub.Use(calls...))
	}
	s := modelstub.New(turns...)
	l, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		panic(err)
	}
	n := 0
	http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.Method, r.URL.Path)
		s.ServeHTTP(w, r)
		for ; n < len(s.Requests()); n++ {
			os.WriteFile(fmt.Sprintf("%s/req-%02d.json", os.Args[3], n), s.Requests()[n].Body, 0o644)
		}
	}))
}
