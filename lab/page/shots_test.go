//go:build unix

package page_test

import (
	"bytes"
	"cmp"
	"flag"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

var shots = flag.Bool("shots", false, "write the pictures of the README and the guide anew")

// largest is how many bytes a picture may have: whoever reads the page on a train
// loads two of them.
const largest = 150_000

// TestShots writes the pictures that the README and the guide show, if asked to,
// and keeps them small.
func TestShots(t *testing.T) {
	folder, err := filepath.Abs(filepath.Join(root, "docs", "images"))
	if err != nil {
		t.Fatal(err)
	}
	if *shots {
		shoot(t, folder)
	}
	names, err := filepath.Glob(filepath.Join(folder, "*.png"))
	if err != nil || len(names) != 4 {
		t.Fatalf("%d pictures in %s (%v); type: make shots", len(names), folder, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := png.DecodeConfig(bytes.NewReader(text)); err != nil || len(text) > largest {
			t.Errorf("%s has %d bytes, want at most %d (%v)", name, len(text), largest, err)
		}
	}
}

func shoot(t *testing.T, folder string) {
	t.Helper()
	program, browser, err := built(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "e2e/shots.mjs", folder)
	cmd.Dir = filepath.Join(root, "web/ui")
	cmd.Env = append(os.Environ(), "SAYSO_BIN="+program, "CHROMIUM="+browser)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	names, err := filepath.Glob(filepath.Join(folder, "*.png"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := squeeze(name); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// squeeze writes a picture as small as it gets: a browser is in a hurry.
func squeeze(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	picture, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, paletted(picture)); err != nil {
		return err
	}
	return os.WriteFile(name, out.Bytes(), 0o644)
}

// paletted is a picture in its 256 most frequent colours. A page has few, and the
// edges of its letters are not missed.
func paletted(from image.Image) *image.Paletted {
	counts, at := map[color.RGBA]int{}, from.Bounds()
	each := func(f func(x, y int, c color.RGBA)) {
		for y := at.Min.Y; y < at.Max.Y; y++ {
			for x := at.Min.X; x < at.Max.X; x++ {
				f(x, y, color.RGBAModel.Convert(from.At(x, y)).(color.RGBA))
			}
		}
	}
	each(func(_, _ int, c color.RGBA) { counts[c]++ })
	often := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), bytes.Compare([]byte{a.R, a.G, a.B}, []byte{b.R, b.G, b.B}))
	})
	var palette color.Palette
	for _, c := range often[:min(256, len(often))] {
		palette = append(palette, c)
	}
	near := map[color.RGBA]uint8{}
	for c := range counts {
		near[c] = uint8(palette.Index(c))
	}
	to := image.NewPaletted(at, palette)
	each(func(x, y int, c color.RGBA) { to.SetColorIndex(x, y, near[c]) })
	return to
}
