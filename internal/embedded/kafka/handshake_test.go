package kafka

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestVersionsOfferTheOldHandshake mends answers of every version and wants the same answer but for the one number.
func TestVersionsOfferTheOldHandshake(t *testing.T) {
	for version := int16(0); version <= 4; version++ {
		resp := &kmsg.ApiVersionsResponse{Version: version}
		for key := int16(0); key < 60; key++ {
			entry := kmsg.NewApiVersionsResponseApiKey()
			entry.ApiKey, entry.MinVersion, entry.MaxVersion = key, 1, max(1, key%7)
			if key == int16(kmsg.SASLHandshake) {
				entry.MaxVersion = 1
			}
			resp.ApiKeys = append(resp.ApiKeys, entry)
		}
		wire := resp.AppendTo(nil)
		again := &kmsg.ApiVersionsResponse{Version: version}
		if err := again.ReadFrom(offerOldHandshake(wire)); err != nil {
			t.Fatalf("version %d: %v", version, err)
		}
		for i, entry := range again.ApiKeys {
			want := resp.ApiKeys[i].MinVersion
			if entry.ApiKey == int16(kmsg.SASLHandshake) {
				want = 0
			}
			if entry.MinVersion != want || entry.MaxVersion != resp.ApiKeys[i].MaxVersion {
				t.Errorf("version %d: key %d is offered from %d to %d", version, entry.ApiKey, entry.MinVersion, entry.MaxVersion)
			}
		}
	}
}
