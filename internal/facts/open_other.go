//go:build !unix

package facts

import "os"

const readOnly = os.O_RDONLY
