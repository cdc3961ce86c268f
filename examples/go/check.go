// Check answers whether a subject may act in a role. It reads the files of a SIG v0.1 issuer from a directory,
// verifies every event, and prints "allow" (exit 0) or "deny" (exit 1). A fault is a message and
// exit 2, never an answer. Sections are those of docs/protocol.md. Standard library only.
//
//	go build check.go
//	./check [--allow-insecure] DIRECTORY SUBJECT ROLE [INSTANT, default: now]
//
// --allow-insecure accepts an issuer of a closed network (§1.1). "go run" exits with 1, a deny, whatever happens.
package main

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

type object = map[string]any

// require panics unless the condition holds. The message begins with a code of docs/reference/errors.md.
func require(condition bool, format string, args ...any) {
	if !condition {
		panic(fmt.Errorf(format, args...))
	}
}

func matches(pattern string, value any) bool {
	text, ok := value.(string)
	return ok && regexp.MustCompile(`^(?:`+pattern+`)$`).MatchString(text)
}

func oneOf(value any, list string) bool { return matches(strings.ReplaceAll(list, " ", "|"), value) }
func isText(value any) bool             { _, ok := value.(string); return ok }
func isIdentifier(value any) bool       { return matches(`[^\x00-\x1f\x7f-\x{9f}]+`, value) }
func isTime(value any) bool             { _, ok := instant(value); return ok }
func isTexts(value any) bool {
	list, ok := value.([]any)
	for _, item := range list {
		ok = ok && isText(item)
	}
	return ok
}

// strictJSON reads one object by §2.3; encoding/json alone accepts duplicate names and replaces lone surrogates.
func strictJSON(data []byte, code string) object {
	lone := regexp.MustCompile(`(?i)\\\\|\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|(\\ud[89a-f])`)
	for _, match := range lone.FindAllSubmatch(data, -1) {
		require(len(match[1]) == 0, "%s: half of a surrogate pair", code)
	}
	require(utf8.Valid(data) && json.Valid(data), "%s: not JSON", code)
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	value, ok := strictValue(decoder, code, 16).(object)
	require(ok, "%s: not an object", code)
	return value
}

func strictValue(decoder *json.Decoder, code string, levels int) any {
	token, err := decoder.Token()
	require(err == nil, "%s: %v", code, err)
	if number, ok := token.(json.Number); ok {
		value, err := number.Float64()
		whole := !strings.ContainsAny(number.String(), ".eE")
		require(err == nil && !(whole && math.Abs(value) > 1<<53-1), "%s: the number %.40s", code, number)
		return number
	}
	if token == json.Delim('{') {
		require(levels > 0, "%s: more than 16 levels", code)
		value := object{}
		for decoder.More() {
			name := strictValue(decoder, code, 0).(string)
			_, twice := value[name]
			require(!twice, "duplicate_json_member: %q", name)
			value[name] = strictValue(decoder, code, levels-1)
		}
		decoder.Token()
		return value
	}
	if token == json.Delim('[') {
		require(levels > 0, "%s: more than 16 levels", code)
		value := []any{}
		for decoder.More() {
			value = append(value, strictValue(decoder, code, levels-1))
		}
		decoder.Token()
		return value
	}
	return token
}

// fromBase64URL decodes the only valid spelling of a value (§2.4).
func fromBase64URL(value any, code string) []byte {
	text, _ := value.(string)
	data, err := base64.RawURLEncoding.Strict().DecodeString(text)
	require(isText(value) && err == nil && !strings.ContainsAny(text, "\r\n"), "%s: not base64url", code)
	return data
}

// isGoodPoint applies the rule of §2.5: canonical, not of small order, on the curve.
func isGoodPoint(data []byte) bool {
	if len(data) != 32 {
		return false
	}
	bigEndian := make([]byte, 32)
	for i, b := range data {
		bigEndian[31-i] = b
	}
	bigEndian[0] &= 127
	one, y := big.NewInt(1), new(big.Int).SetBytes(bigEndian)
	p := new(big.Int).Sub(new(big.Int).Lsh(one, 255), big.NewInt(19))
	order8, _ := new(big.Int).SetString("05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826", 16)
	for _, small := range []*big.Int{new(big.Int), one, order8} {
		if y.Cmp(small) == 0 || y.Cmp(new(big.Int).Sub(p, small)) == 0 {
			return false
		}
	}
	d := new(big.Int).Mul(big.NewInt(-121665), new(big.Int).ModInverse(big.NewInt(121666), p))
	square := new(big.Int).Mul(y, y)
	below := new(big.Int).Add(new(big.Int).Mul(d, square), one)
	x2 := new(big.Int).Mul(new(big.Int).Sub(square, one), below.ModInverse(below.Mod(below, p), p))
	return y.Cmp(p) < 0 && big.Jacobi(x2.Mod(x2, p), p) == 1
}

// instant reads a timestamp (§3.4).
func instant(value any) (time.Time, bool) {
	if !matches(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z`, value) {
		return time.Time{}, false
	}
	result, err := time.Parse(time.RFC3339Nano, value.(string))
	return result, err == nil && result.Year() >= 1
}

// read returns a file inside the directory (§1.4, §8).
func read(root, path string, limit int64) []byte {
	base, err := filepath.EvalSymlinks(root)
	require(err == nil, "fetch_failed: %v", err)
	place, err := filepath.EvalSymlinks(filepath.Join(base, filepath.Clean("/"+path)))
	if os.IsNotExist(err) {
		return nil
	}
	require(err == nil && strings.HasPrefix(place, base+"/"), "invalid_metadata: %s", path)
	file, err := os.Open(place)
	require(err == nil, "fetch_failed: %v", err)
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	require(err == nil, "fetch_failed: %v", err)
	require(int64(len(data)) <= limit, "document_too_large: %s", path)
	return append([]byte{}, data...) // not nil for an empty file
}

var privateMembers = strings.Fields("d p q dp dq qi oth k priv")

func isPrivate(jwk object) bool {
	for _, name := range privateMembers {
		if _, found := jwk[name]; found {
			return true
		}
	}
	return jwk["kty"] == "oct"
}

// readKeys returns the x of each usable key by its kid (§1.5).
func readKeys(data []byte) map[string]string {
	entries, ok := strictJSON(data, "invalid_key")["keys"].([]any)
	require(ok && len(entries) <= 256, "invalid_key: keys")
	keys := map[string]string{}
	for _, entry := range entries {
		jwk, ok := entry.(object)
		require(ok, "invalid_key: a key is an object")
		require(!isPrivate(jwk), "private_key_in_jwks")
	}
	for _, entry := range entries {
		jwk := entry.(object)
		usable := jwk["kty"] == "OKP" && jwk["crv"] == "Ed25519" && jwk["kid"] != nil
		for name, value := range map[string]string{"use": "sig", "alg": "EdDSA"} {
			usable = usable && (jwk[name] == nil || jwk[name] == value)
		}
		if operations, ok := jwk["key_ops"].([]any); ok {
			usable = usable && strings.Contains(fmt.Sprint(operations), "verify")
		}
		if !usable {
			continue
		}
		kid, ok := jwk["kid"].(string)
		require(ok && isIdentifier(kid) && len(utf16.Encode([]rune(kid))) <= 256, "invalid_key: kid")
		require(isGoodPoint(fromBase64URL(jwk["x"], "invalid_key")), "invalid_key: %s", kid)
		require(keys[kid] == "", "duplicate_kid: %s", kid)
		keys[kid] = jwk["x"].(string)
	}
	return keys
}

// readAuthorised returns the x of each key that may sign, by its id; nil allows every key (§1.6).
func readAuthorised(data []byte, did string) map[string]any {
	if data == nil {
		return nil
	}
	document := strictJSON(data, "invalid_did_document")
	listed, ok := document["verificationMethod"].([]any)
	asserted, okToo := document["assertionMethod"].([]any)
	require((ok || document["verificationMethod"] == nil) && (okToo || document["assertionMethod"] == nil) &&
		document["id"] == did, "invalid_did_document: id, verificationMethod, assertionMethod")
	methods, authorised := map[string]any{}, map[string]any{}
	full := func(id any) string {
		require(isText(id), "invalid_did_document: a method without an id")
		return regexp.MustCompile("^#").ReplaceAllString(id.(string), did+"#")
	}
	for _, entry := range append(append([]any{}, listed...), asserted...) {
		if isText(entry) {
			continue
		}
		method, ok := entry.(object)
		require(ok, "invalid_did_document: a method is an object")
		jwk, _ := method["publicKeyJwk"].(object)
		require(!isPrivate(jwk), "invalid_did_document: a private key")
		key, id := any(nil), full(method["id"])
		if jwk["kty"] == "OKP" && jwk["crv"] == "Ed25519" {
			key = jwk["x"]
		}
		before, found := methods[id]
		require(!found || before == key, "invalid_did_document: one id for two keys")
		methods[id] = key
	}
	for _, entry := range asserted {
		if method, ok := entry.(object); ok {
			entry = method["id"]
		}
		authorised[full(entry)] = methods[full(entry)]
	}
	return authorised
}

// readEvent verifies one line (§2.6, steps 1 to 14).
func readEvent(line []byte, keys map[string]string, authorised map[string]any, did string) object {
	require(len(line) <= 65536 && !bytes.Contains(line, []byte("\r")), "invalid_line")
	envelope := strictJSON(line, "invalid_line")
	parts := map[string][]byte{}
	for _, name := range []string{"protected", "payload", "signature"} {
		require(isText(envelope[name]) && len(envelope) == 3, "invalid_envelope")
		parts[name] = fromBase64URL(envelope[name], "invalid_base64url")
	}
	header := strictJSON(parts["protected"], "invalid_header")
	kid, _ := header["kid"].(string)
	require(len(header) == 3 && header["alg"] == "EdDSA" && header["typ"] == "sig-event+jws" &&
		isIdentifier(kid) && len(utf16.Encode([]rune(kid))) <= 256, "invalid_header")
	require(keys[kid] != "", "key_not_found: %s", kid)
	require(authorised == nil || authorised[did+"#"+kid] == any(keys[kid]), "key_not_authorized: %s", kid)
	signature, signed := parts["signature"], envelope["protected"].(string)+"."+envelope["payload"].(string)
	require(len(signature) == 64 && isGoodPoint(signature[:32]) &&
		ed25519.Verify(fromBase64URL(keys[kid], "invalid_key"), []byte(signed), signature), "signature_invalid")
	return strictJSON(parts["payload"], "invalid_envelope")
}

const types = "employee founder contractor advisor investor admin_delegate other"
const reasons = "employment_ended contract_ended permission_revoked superseded admin_action error_correction other"

// checkEvent checks the fields (§3), and issuer and sequence (§4).
func checkEvent(event object, did string, publicOnly bool, sequence int) {
	field := func(good bool, name string) {
		_, found := event[name]
		require(found && good, "invalid_field: %s", name)
	}
	optional := func(container object, name string, good func(any) bool) {
		require(container[name] == nil || good(container[name]), "invalid_field: %s", name)
	}
	isObject := func(value any) bool { _, ok := value.(object); return ok }
	field(event["spec_version"] == "sig/0.1", "spec_version")
	for _, name := range []string{"event_id", "issuer", "relationship_id", "subject"} {
		field(isIdentifier(event[name]), name)
	}
	field(isTime(event["issued_at"]), "issued_at")
	field(oneOf(event["visibility"], "public private"), "visibility")
	optional(event, "reason", isText)
	optional(event, "metadata", isObject)
	switch event["event_type"] {
	case "relationship.upsert":
		field(oneOf(event["relationship_type"], types), "relationship_type")
		field(event["status"] == "active", "status")
		field(isTexts(event["roles"]), "roles")
		for _, name := range []string{"valid_from", "valid_until"} {
			field(event[name] == nil || isTime(event[name]), name)
		}
		start, begins := instant(event["valid_from"])
		end, ends := instant(event["valid_until"])
		field(!begins || !ends || start.Before(end), "valid_until")
		optional(event, "display", isObject)
		display, _ := event["display"].(object)
		for _, name := range []string{"title", "department", "label"} {
			optional(display, name, isText)
		}
	case "relationship.revoke":
		field(event["revokes_relationship_id"] == event["relationship_id"], "revokes_relationship_id")
		field(oneOf(event["reason_code"], reasons), "reason_code")
		field(isTime(event["effective_at"]), "effective_at")
	default:
		field(false, "event_type")
	}
	require(event["visibility"] == "public" || !publicOnly, "private_event_in_public_feed")
	require(event["issuer"] == did, "issuer_mismatch")
	require(event["sequence"] == json.Number(fmt.Sprint(sequence)), "sequence_gap: %d is expected", sequence)
}

// readMetadata returns identifier, public_only and the paths of key set and feed (§1.1, §1.2).
func readMetadata(data []byte, allowInsecure bool) (string, bool, string, string) {
	meta := strictJSON(data, "invalid_metadata")
	label := "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
	local := matches(`([^.]*|.*\.(\d+|local|localhost|internal))(%3A\d+)?`, meta["issuer"])
	good := matches("did:web:("+label+`\.)*`+label+`(%3A[1-9]\d{0,4})?`, meta["issuer"])
	require(good && (allowInsecure || !local), "invalid_metadata: issuer")
	publicOnly, ok := meta["public_only"].(bool)
	algorithms, _ := meta["algorithms_supported"].([]any)
	eddsa := false
	for _, algorithm := range algorithms {
		eddsa = eddsa || algorithm == "EdDSA"
	}
	require(ok && eddsa && isTexts(meta["algorithms_supported"]) && meta["spec_version"] == "sig/0.1", "invalid_metadata")
	require(meta["event_serialization"] == nil || meta["event_serialization"] == "jws-flattened", "invalid_metadata")
	path := func(name string) string {
		require(matches(`https?://[^/?#@\\\s]+/[^#\\\s]*`, meta[name]), "invalid_metadata: %s", name)
		address, err := url.Parse(meta[name].(string))
		require(err == nil, "invalid_metadata: %s", name)
		return address.Path
	}
	return meta["issuer"].(string), publicOnly, path("jwks_uri"), path("events_uri")
}

// replay returns the last upsert of each relationship, with its status (§4).
func replay(root string, allowInsecure bool) map[string]object {
	did, publicOnly, keysPath, feedPath := readMetadata(read(root, ".well-known/sig.json", 1<<16), allowInsecure)
	keys := readKeys(read(root, keysPath, 1<<18))
	authorised := readAuthorised(read(root, ".well-known/did.json", 1<<16), did)
	feed := read(root, feedPath, 1<<30)
	require(feed != nil, "fetch_failed: %s", feedPath)
	lines := bytes.Split(feed, []byte("\n"))
	state, ids := map[string]object{}, map[string]bool{}
	for i, line := range lines[:len(lines)-1] {
		func() {
			defer func() {
				if fault := recover(); fault != nil {
					panic(fmt.Errorf("line %d: %v", i+1, fault))
				}
			}()
			event := readEvent(line, keys, authorised, did)
			checkEvent(event, did, publicOnly, i+1)
			id, relationship := event["event_id"].(string), event["relationship_id"].(string)
			require(!ids[id], "duplicate_event_id: %s", id)
			ids[id] = true
			if event["event_type"] == "relationship.upsert" {
				state[relationship] = event
			} else if state[relationship] != nil {
				state[relationship]["status"] = "revoked"
			}
		}()
	}
	require(len(lines[len(lines)-1]) == 0, "incomplete_line: line %d", len(lines))
	return state
}

// allows answers the question of §5 at one instant.
func allows(state map[string]object, subject, role string, now time.Time) bool {
	for _, entry := range state {
		start, begins := instant(entry["valid_from"])
		end, ends := instant(entry["valid_until"])
		active := entry["status"] == "active" && (!begins || !start.After(now)) && (!ends || now.Before(end))
		for _, each := range entry["roles"].([]any) {
			if active && entry["subject"] == subject && each == role {
				return true
			}
		}
	}
	return false
}

func main() {
	defer func() {
		if fault := recover(); fault != nil {
			fmt.Fprintln(os.Stderr, "no answer:", fault)
			os.Exit(2)
		}
	}()
	words := os.Args[1:]
	allowInsecure := len(words) > 0 && words[0] == "--allow-insecure"
	if allowInsecure {
		words = words[1:]
	}
	require(len(words) == 3 || len(words) == 4, "usage: check [--allow-insecure] DIRECTORY SUBJECT ROLE [INSTANT]")
	require(words[1] != "", "invalid_identifier: the subject is empty")
	require(words[2] != "", "invalid_requirement: the role is empty")
	now := time.Now()
	if len(words) == 4 {
		given, ok := instant(words[3])
		require(ok, "invalid_request: %s", words[3])
		now = given
	}
	if allows(replay(words[0], allowInsecure), words[1], words[2], now) {
		fmt.Println("allow")
		return
	}
	fmt.Println("deny")
	os.Exit(1)
}
