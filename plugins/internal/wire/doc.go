// Package wire cuts bytes and Arrow streams into the chunks of the plugin contract and puts them together again. Host and
// SDK share it. Begin with SendArrow and ReceiveArrow.
package wire
