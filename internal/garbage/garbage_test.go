package garbage

import (
	"runtime"
	"testing"
)

func TestLimit(t *testing.T) {
	tests := map[string]struct {
		used uint64
		want int64
	}{
		"nothing":              {0, least},
		"little":               {20 << 20, least},
		"half of the least":    {least / 2, least},
		"more than the least":  {4 * least, 5 * least},
		"a very large process": {4 << 30, 5 << 30},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := limit(tt.used); got != tt.want {
				t.Errorf("limit(%d) = %d, want %d", tt.used, got, tt.want)
			}
		})
	}
}

func TestInUse(t *testing.T) {
	runtime.GC()
	if live, stacks := inUse(); live == 0 || stacks == 0 {
		t.Errorf("%d bytes live and %d in stacks: a metric has another name now", live, stacks)
	}
}
