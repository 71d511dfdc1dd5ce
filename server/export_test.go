package server

import "time"

func (o *Options) SetHeartbeat(d time.Duration) { o.limits.heartbeat = d }
func (o *Options) SetStall(d time.Duration)     { o.limits.stall = d }
func (o *Options) SetBody(d time.Duration)      { o.limits.body = d }
func (o *Options) SetOperations(n int)          { o.limits.operations = n }
