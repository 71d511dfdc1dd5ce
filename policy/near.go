package policy

// nearest returns the word that was probably meant by s, empty if none is
// close.
func nearest(s string, words []string) string {
	best, at := "", 1+(len(s)+1)/3
	for _, w := range words {
		if d := distance(s, w); d < at {
			best, at = w, d
		}
	}
	return best
}

// distance counts the letters to insert, drop, change or swap with their
// neighbour to get from one word to the other.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	before, prev, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, prev, row = prev, row, before
	}
	return prev[len(b)]
}
