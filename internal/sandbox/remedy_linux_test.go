package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNamespaceRemedy(t *testing.T) {
	tests := map[string]struct {
		files      map[string]string
		privileged bool
		want       string
		not        string
	}{
		"ubuntu":           {map[string]string{"proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1\n"}, false, "kernel.apparmor_restrict_unprivileged_userns=0", "docker"},
		"ubuntu, profile":  {map[string]string{"proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1\n"}, false, "profile spade " + programPath(), "docker"},
		"ubuntu, as root":  {map[string]string{"proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1\n"}, true, "CONFIG_USER_NS", "sysctl"},
		"docker":           {map[string]string{".dockerenv": ""}, true, "--security-opt seccomp=unconfined --security-opt apparmor=unconfined", "sysctl"},
		"docker on ubuntu": {map[string]string{".dockerenv": "", "proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1"}, true, "kernel.apparmor_restrict_unprivileged_userns=0", ""},
		"old debian":       {map[string]string{"proc/sys/kernel/unprivileged_userns_clone": "0\n"}, false, "kernel.unprivileged_userns_clone=1", "docker"},
		"switched off":     {map[string]string{"proc/sys/user/max_user_namespaces": "0\n"}, true, "user.max_user_namespaces=15000", "docker"},
		"unknown":          {map[string]string{"proc/sys/user/max_user_namespaces": "1000\n"}, false, "CONFIG_USER_NS", "sysctl"},
	}
	for name, tt := range tests {
		root := t.TempDir()
		for file, text := range tt.files {
			path := filepath.Join(root, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got := namespaceRemedy(root+"/", tt.privileged)
		if !strings.Contains(got, tt.want) || tt.not != "" && strings.Contains(got, tt.not) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
