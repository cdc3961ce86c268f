// A witness by C2SP's tlog-witness and tlog-cosignature, made with the
// independent golang.org/x/mod. Arguments: its name, and the verifier key of
// its log. Prints its address and its own verifier key; keeps its cosigned
// checkpoints in memory.
package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type cosigner struct {
	name string
	key  ed25519.PrivateKey
}

func (c cosigner) public() []byte {
	return append([]byte{4}, c.key.Public().(ed25519.PublicKey)...)
}

func (c cosigner) Name() string { return c.name }

func (c cosigner) KeyHash() uint32 {
	sum := sha256.Sum256(append([]byte(c.name+"\n"), c.public()...))
	return binary.BigEndian.Uint32(sum[:4])
}

func (c cosigner) Sign(text []byte) ([]byte, error) {
	now := time.Now().Unix()
	signed := fmt.Sprintf("cosignature/v1\ntime %d\n%s", now, text)
	at := binary.BigEndian.AppendUint64(nil, uint64(now))
	return append(at, ed25519.Sign(c.key, []byte(signed))...), nil
}

type witness struct {
	mutex    sync.Mutex
	cosigner cosigner
	origin   string
	keys     note.Verifiers
	size     int64
	root     tlog.Hash
}

type refusal struct {
	status int
	body   string
}

func (w *witness) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	body, err := io.ReadAll(in.Body)
	if err != nil || in.Method != "POST" || in.URL.Path != "/w/add-checkpoint" {
		http.Error(out, "not add-checkpoint", 405)
		return
	}
	lines, refused := w.add(string(body))
	if refused != nil {
		if refused.status == 409 {
			out.Header().Set("content-type", "text/x.tlog.size")
		}
		out.WriteHeader(refused.status)
		fmt.Fprint(out, refused.body)
		return
	}
	fmt.Fprint(out, lines)
}

func (w *witness) add(body string) (string, *refusal) {
	head, signed, found := strings.Cut(body, "\n\n")
	lines := strings.Split(head, "\n")
	old, err := strconv.ParseInt(strings.TrimPrefix(lines[0], "old "), 10, 64)
	if !found || err != nil || !strings.HasPrefix(lines[0], "old ") {
		return "", &refusal{400, "malformed\n"}
	}
	proof := tlog.TreeProof{}
	for _, line := range lines[1:] {
		hash, err := tlog.ParseHash(line)
		if err != nil {
			return "", &refusal{400, "malformed proof\n"}
		}
		proof = append(proof, hash)
	}
	if !strings.HasPrefix(signed, w.origin+"\n") {
		return "", &refusal{404, "unknown origin\n"}
	}
	opened, err := note.Open([]byte(signed), w.keys)
	if err != nil {
		return "", &refusal{403, "no signature by a known key\n"}
	}
	text := strings.Split(opened.Text, "\n")
	size, err := strconv.ParseInt(text[1], 10, 64)
	root, err2 := tlog.ParseHash(text[2])
	if err != nil || err2 != nil || old > size {
		return "", &refusal{400, "malformed checkpoint\n"}
	}
	if old != w.size || (old == size && old > 0 && root != w.root) {
		return "", &refusal{409, fmt.Sprintf("%d\n", w.size)}
	}
	if old > 0 && old < size {
		if tlog.CheckTree(proof, size, root, old, w.root) != nil {
			return "", &refusal{422, "inconsistent\n"}
		}
	}
	w.size, w.root = size, root
	cosigned, err := note.Sign(&note.Note{Text: opened.Text}, w.cosigner)
	check(err)
	return string(cosigned[len(opened.Text)+1:]), nil
}

func main() {
	keys, err := note.NewVerifier(os.Args[2])
	check(err)
	_, private, err := ed25519.GenerateKey(rand.Reader)
	check(err)
	own := cosigner{os.Args[1], private}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Printf("%s %s+%08x+%s\n", listener.Addr(), own.name, own.KeyHash(),
		base64.StdEncoding.EncodeToString(own.public()))
	log.Fatal(http.Serve(listener, &witness{
		cosigner: own,
		origin:   keys.Name(),
		keys:     note.VerifierList(keys),
	}))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
