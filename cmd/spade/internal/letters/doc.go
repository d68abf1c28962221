// Package letters lists dead letters and appends their records again. Begin with Read and Retry.
//
// Whether a letter was retried is read from the log: a record that was appended again says in a header which record it
// repeats. One record may have letters of several consumers; it is appended once for all of them.
package letters
