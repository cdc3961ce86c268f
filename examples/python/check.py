"""May this subject act in this role? Reads the files of a SIG v0.1 issuer from a directory, verifies every
event, and prints `allow` (exit 0) or `deny` (exit 1). What can't be verified is a message and exit 2, never
an answer. Sections are those of docs/protocol.md. Needs Debian's python3-cryptography.

    python3 check.py [--allow-insecure] DIRECTORY SUBJECT ROLE [INSTANT, default: now]

--allow-insecure accepts an issuer of a closed network (§1.1).
"""
import base64, json, os, re, sys, urllib.parse
from datetime import datetime, timedelta, timezone
try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
except ImportError as error:  # Python would exit with 1, which is a deny.
    print("no answer:", error, file=sys.stderr)
    sys.exit(2)

class Refused(Exception):
    """The arguments: a code of docs/reference/errors.md, and the place."""

def require(condition, *code_and_place):
    if not condition: raise Refused(*code_and_place)

def is_text(value): return isinstance(value, str)
def is_texts(value): return isinstance(value, list) and all(map(is_text, value))
def is_identifier(value): return is_text(value) and value != "" and not re.search("[\x00-\x1f\x7f-\x9f]", value)
def is_kid(value): return is_identifier(value) and len(value.encode("utf-16-le")) <= 512
def is_time(value): return nanoseconds(value) is not None

def strict_json(data, code):  # §2.3
    def members(pairs):
        require(len(dict(pairs)) == len(pairs), "duplicate_json_member")
        return dict(pairs)
    def number(text, kind, limit):
        require(abs(kind(text)) <= limit, code, text[:40])
        return kind(text)
    def walk(value, levels):
        if is_text(value): value.encode()  # fails for a lone surrogate
        if isinstance(value, (dict, list)):
            require(levels > 0, code, "more than 16 levels")
            for item in [*value, *(value.values() if isinstance(value, dict) else ())]: walk(item, levels - 1)
    try:
        value = json.loads(data.decode(), object_pairs_hook=members, parse_int=lambda text: number(text, int, 2**53 - 1),
                           parse_float=lambda text: number(text, float, sys.float_info.max),
                           parse_constant=lambda text: require(False, code, text))
        walk(value, 16)
    except (ValueError, RecursionError) as error: raise Refused(code, str(error)[:80])
    require(isinstance(value, dict), code, "not an object")
    return value

def from_base64url(text, code):  # §2.4: each value has one spelling
    require(is_text(text) and re.fullmatch("[A-Za-z0-9_-]*", text) and len(text) % 4 != 1, code)
    value = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    require(base64.urlsafe_b64encode(value).rstrip(b"=").decode() == text, code)
    return value

P, D = 2**255 - 19, -121665 * pow(121666, -1, 2**255 - 19)
ORDER_8 = int("05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826", 16)
def is_good_point(data):  # §2.5: canonical, not of small order, on the curve
    y = int.from_bytes(data, "little") % 2**255
    if len(data) != 32 or y >= P or y in (0, 1, P - 1, ORDER_8, P - ORDER_8): return False
    return pow((y * y - 1) * pow(D * y * y + 1, -1, P), (P - 1) // 2, P) == 1

def nanoseconds(text):  # §3.4; None for what is not a timestamp
    match = is_text(text) and re.fullmatch(r"([0-9-]{10}T\d\d:\d\d:[0-5]\d)(?:\.(\d{1,9}))?Z", text, re.ASCII)
    try: since = match and datetime.strptime(match[1], "%Y-%m-%dT%H:%M:%S") - datetime(1, 1, 1)
    except ValueError: return None
    return since // timedelta(seconds=1) * 10**9 + int((match[2] or "").ljust(9, "0")) if match else None

def read(root, path, limit, missing=False):  # §1.4, §8
    place = os.path.realpath(os.path.join(root, path.lstrip("/")))
    require(place.startswith(os.path.realpath(root) + os.sep), "invalid_metadata", path)
    if missing and not os.path.lexists(place): return None
    try:
        with open(place, "rb") as file: data = file.read(limit + 1)
    except (OSError, ValueError) as error: raise Refused("fetch_failed", error)
    require(len(data) <= limit, "document_too_large", path)
    return data

def read_metadata(data, allow_insecure, code="invalid_metadata"):  # §1.2, §1.1
    meta, label, uri = strict_json(data, code), "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", r"https?://[^/?#@\\\s]+/[^#\\\s]*"
    did, algorithms = str(meta.get("issuer")), meta.get("algorithms_supported")
    local = re.fullmatch(r"([^.]*|.*\.(\d+|local|localhost|internal))(%3A\d+)?", did)
    good = re.fullmatch(rf"did:web:({label}\.)*{label}(%3A[1-9]\d{{0,4}})?", did)
    require(good and (allow_insecure or not local), code, "issuer")
    require(meta.get("spec_version") == "sig/0.1" and isinstance(meta.get("public_only"), bool), code)
    require(is_texts(algorithms) and "EdDSA" in algorithms, code)
    require(meta.get("event_serialization") in ("jws-flattened", None), code, "event_serialization")
    require(all(re.fullmatch(uri, str(meta.get(name))) for name in ("jwks_uri", "events_uri")), code, "a URL")
    return did, meta["public_only"], *(urllib.parse.unquote(urllib.parse.urlsplit(meta[n]).path) for n in ("jwks_uri", "events_uri"))

PRIVATE = {"d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"}
def read_keys(data, code="invalid_key"):  # §1.5: x by kid
    entries, keys = strict_json(data, code).get("keys"), {}
    require(isinstance(entries, list) and len(entries) <= 256 and all(isinstance(entry, dict) for entry in entries), code)
    require(not any(PRIVATE & entry.keys() or entry.get("kty") == "oct" for entry in entries), "private_key_in_jwks")
    usual = {"kty": "OKP", "crv": "Ed25519", "use": "sig", "alg": "EdDSA"}
    for entry in ({"use": "sig", "alg": "EdDSA", "key_ops": ["verify"], **entry} for entry in entries):
        if "kid" not in entry or {**entry, **usual} != entry or "verify" not in entry["key_ops"]: continue
        require(is_kid(entry["kid"]), code, "kid")
        require(is_good_point(from_base64url(entry.get("x"), code)), code, entry["kid"])
        require(entry["kid"] not in keys, "duplicate_kid", entry["kid"])
        keys[entry["kid"]] = entry["x"]
    return keys

def read_authorised(data, did, code="invalid_did_document"):  # §1.6: x by id; None: every key
    if data is None: return None
    document, methods = strict_json(data, code), {}
    listed, asserted = document.get("verificationMethod", []), document.get("assertionMethod", [])
    require(document.get("id") == did and isinstance(listed, list) and isinstance(asserted, list), code)
    for method in listed + [entry for entry in asserted if not is_text(entry)]:
        require(isinstance(method, dict) and is_text(method.get("id")), code)
        jwk, id = method.get("publicKeyJwk", {}), re.sub("^#", did + "#", method["id"])
        require(isinstance(jwk, dict) and not PRIVATE & jwk.keys(), code, "a private key")
        key = jwk.get("x") if jwk.get("kty") == "OKP" and jwk.get("crv") == "Ed25519" else None
        require(methods.setdefault(id, key) == key, code, "one id for two keys")
    ids = (re.sub("^#", did + "#", entry if is_text(entry) else entry["id"]) for entry in asserted)
    return {id: methods.get(id) for id in ids}

def read_event(line, keys, authorised, did):  # §2.6, steps 1 to 14
    require(len(line) <= 65536 and b"\r" not in line, "invalid_line")
    envelope, names = strict_json(line, "invalid_line"), ("protected", "payload", "signature")
    require(envelope.keys() == set(names) and all(map(is_text, envelope.values())), "invalid_envelope")
    protected, payload, signature = (from_base64url(envelope[name], "invalid_base64url") for name in names)
    header = strict_json(protected, "invalid_header")
    kid = header.get("kid")
    require(header == {"alg": "EdDSA", "typ": "sig-event+jws", "kid": kid} and is_kid(kid), "invalid_header")
    require(kid in keys, "key_not_found", kid)
    require(authorised is None or authorised.get(f"{did}#{kid}") == keys[kid], "key_not_authorized", kid)
    require(len(signature) == 64 and is_good_point(signature[:32]), "signature_invalid")
    key = Ed25519PublicKey.from_public_bytes(from_base64url(keys[kid], "invalid_key"))
    try: key.verify(signature, f"{envelope['protected']}.{envelope['payload']}".encode())
    except InvalidSignature: raise Refused("signature_invalid")
    return strict_json(payload, "invalid_envelope")

TYPES = "employee founder contractor advisor investor admin_delegate other".split()
REASONS = "employment_ended contract_ended permission_revoked superseded admin_action error_correction other".split()
COMMON = {  # §3.1
    "spec_version": lambda value: value == "sig/0.1", "sequence": lambda value: type(value) is int,
    "event_type": lambda value: value in ("relationship.upsert", "relationship.revoke"),
    "event_id": is_identifier, "issuer": is_identifier, "relationship_id": is_identifier, "subject": is_identifier,
    "issued_at": is_time, "visibility": lambda value: value in ("public", "private"),
}
UPSERT = {  # §3.2
    "relationship_type": lambda value: value in TYPES, "status": lambda value: value == "active", "roles": is_texts,
    "valid_from": lambda value: value is None or is_time(value), "valid_until": lambda value: value is None or is_time(value),
}
REVOKE = {"revokes_relationship_id": is_text, "reason_code": lambda value: value in REASONS, "effective_at": is_time}  # §3.3
OPTIONAL = {
    "reason": is_text, "metadata": lambda value: isinstance(value, dict),
    "display": lambda value: isinstance(value, dict) and is_texts([value[n] for n in DISPLAY & value.keys() if value[n] is not None]),
}
DISPLAY = {"title", "department", "label"}
def check_event(event, did, public_only, sequence):  # §3, and §4
    upsert = event.get("event_type") == "relationship.upsert"
    for name, good in {**COMMON, **(UPSERT if upsert else REVOKE)}.items():
        require(name in event and good(event[name]), "invalid_field", name)
    for name in (OPTIONAL if upsert else ("reason", "metadata")):
        require(event.get(name) is None or OPTIONAL[name](event[name]), "invalid_field", name)
    start, end = (nanoseconds(event.get(name)) for name in ("valid_from", "valid_until"))
    require(start is None or end is None or start < end, "invalid_field", "valid_until")
    require(event.get("revokes_relationship_id", event["relationship_id"]) == event["relationship_id"] or upsert, "revoke_target_mismatch")
    require(event["visibility"] == "public" or not public_only, "private_event_in_public_feed")
    require(event["issuer"] == did, "issuer_mismatch")
    require(event["sequence"] == sequence, "sequence_gap", f"{sequence} is expected")

def replay(root, allow_insecure=False):  # §4: the last upsert of each relationship, with its status
    did, public_only, keys_path, feed_path = read_metadata(read(root, ".well-known/sig.json", 2**16), allow_insecure)
    keys = read_keys(read(root, keys_path, 2**18))
    authorised = read_authorised(read(root, ".well-known/did.json", 2**16, missing=True), did)
    *lines, rest = read(root, feed_path, 2**30).split(b"\n")
    state, event_ids = {}, set()
    for sequence, line in enumerate(lines, 1):
        try:
            event = read_event(line, keys, authorised, did)
            check_event(event, did, public_only, sequence)
            require(event["event_id"] not in event_ids, "duplicate_event_id")
        except Refused as refusal: raise Refused(*refusal.args, f"line {sequence}")
        event_ids.add(event["event_id"])
        if event["event_type"] == "relationship.upsert": state[event["relationship_id"]] = event
        elif event["relationship_id"] in state: state[event["relationship_id"]]["status"] = "revoked"
    require(rest == b"", "incomplete_line", f"line {len(lines) + 1}")
    return state

def is_active(entry, now):  # §5.1
    start, end = nanoseconds(entry["valid_from"]), nanoseconds(entry["valid_until"])
    return entry["status"] == "active" and (start is None or start <= now) and (end is None or now < end)

def main(root, subject, role, instant=None, allow_insecure=False):
    now = nanoseconds(instant or datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ"))
    require(now is not None, "invalid_request", instant)
    require(subject != "", "invalid_identifier", "the subject is empty")
    require(role != "", "invalid_requirement", "the role is empty")
    allow = any(e["subject"] == subject and role in e["roles"] and is_active(e, now) for e in replay(root, allow_insecure).values())
    print("allow" if allow else "deny")
    return 0 if allow else 1

if __name__ == "__main__":
    words = sys.argv[1:]
    allow_insecure = words[:1] == ["--allow-insecure"]
    if allow_insecure: words.pop(0)
    try:
        require(len(words) in (3, 4), "usage: check.py [--allow-insecure] DIRECTORY SUBJECT ROLE [INSTANT]")
        code = main(*words, allow_insecure=allow_insecure)
        sys.stdout.flush()
        sys.exit(code)
    except Exception as error: print("no answer:", *error.args, file=sys.stderr)  # not 1, which is a deny
    sys.exit(2)
