package enforce

import "github.com/sayso-dev/sayso"

// RefusedError is a refusal with a text of its own for the model.
type RefusedError struct{ Text string }

// Error implements error.
func (e *RefusedError) Error() string { return e.Text }

// Unfit refuses a call that was approved with arguments which its tool does not take.
func Unfit(d sayso.Decision, why error) error {
	return &RefusedError{"Approved with other arguments (ticket " + d.Request.Short() + "), which the tool does not take: " +
		why.Error() + ". Nothing ran. Report this to the user."}
}
