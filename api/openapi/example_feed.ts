/**
 * The issuer of the examples: `did:web:acme.example`, signed with a test key that
 * everyone knows.
 *
 * @module
 */

import type { InlineFeed } from "@sig/consumer";

const DID = "did:web:acme.example";
const KEY = {
  kty: "OKP",
  crv: "Ed25519",
  x: "RsRRt4f1m1-Y7vlqBlZO0uq9PBl6QwG3Fzk26lLLzE4",
  kid: "orgsign-1",
  use: "sig",
  alg: "EdDSA",
};

function line(payload: string, signature: string): string {
  const header =
    "eyJhbGciOiJFZERTQSIsImtpZCI6Im9yZ3NpZ24tMSIsInR5cCI6InNpZy1ldmVudCtqd3MifQ";
  return `${JSON.stringify({ protected: header, payload, signature })}\n`;
}

const FIRST_LINE = line(
  "eyJzcGVjX3ZlcnNpb24iOiJzaWcvMC4xIiwiZXZlbnRfaWQiOiJhY21lLTEiLCJl" +
    "dmVudF90eXBlIjoicmVsYXRpb25zaGlwLnVwc2VydCIsImlzc3VlciI6ImRpZDp3" +
    "ZWI6YWNtZS5leGFtcGxlIiwiaXNzdWVkX2F0IjoiMjAyNi0wMS0wNVQwOTowMDow" +
    "MFoiLCJzZXF1ZW5jZSI6MSwicmVsYXRpb25zaGlwX2lkIjoiYWxpY2UtMSIsInN1" +
    "YmplY3QiOiJkaWQ6d2ViOmFsaWNlLmV4YW1wbGUiLCJ2aXNpYmlsaXR5IjoicHVi" +
    "bGljIiwicmVsYXRpb25zaGlwX3R5cGUiOiJlbXBsb3llZSIsInN0YXR1cyI6ImFj" +
    "dGl2ZSIsInJvbGVzIjpbImRlcGxveSIsInJldmlldyJdLCJ2YWxpZF9mcm9tIjpu" +
    "dWxsLCJ2YWxpZF91bnRpbCI6bnVsbH0",
  "uKi-QfHX0vyiDg5X53axQF94hdMxPwxrt6-rIQHC7YunMXfoP8pD_A3QXSPKQ7D0" +
    "3Ll3ovMhmqImNrs-BIUqAg",
);

/** Its documents, the feed with three events: Alice, Bob, Bob revoked. */
export const EXAMPLE_FEED: InlineFeed = {
  metadata: {
    spec_version: "sig/0.1",
    issuer: DID,
    jwks_uri: "https://acme.example/.well-known/jwks.json",
    events_uri: "https://acme.example/.well-known/sig/events.jsonl",
    public_only: true,
    algorithms_supported: ["EdDSA"],
  },
  jwks: { keys: [KEY] },
  did_document: {
    id: DID,
    verificationMethod: [{
      id: `${DID}#orgsign-1`,
      type: "JsonWebKey2020",
      controller: DID,
      publicKeyJwk: KEY,
    }],
    assertionMethod: [`${DID}#orgsign-1`],
  },
  events: [
    FIRST_LINE,
    line(
      "eyJzcGVjX3ZlcnNpb24iOiJzaWcvMC4xIiwiZXZlbnRfaWQiOiJhY21lLTIiLCJl" +
        "dmVudF90eXBlIjoicmVsYXRpb25zaGlwLnVwc2VydCIsImlzc3VlciI6ImRpZDp3" +
        "ZWI6YWNtZS5leGFtcGxlIiwiaXNzdWVkX2F0IjoiMjAyNi0wMS0xMlQwOTowMDow" +
        "MFoiLCJzZXF1ZW5jZSI6MiwicmVsYXRpb25zaGlwX2lkIjoiYm9iLTEiLCJzdWJq" +
        "ZWN0IjoiZGlkOndlYjpib2IuZXhhbXBsZSIsInZpc2liaWxpdHkiOiJwdWJsaWMi" +
        "LCJyZWxhdGlvbnNoaXBfdHlwZSI6ImNvbnRyYWN0b3IiLCJzdGF0dXMiOiJhY3Rp" +
        "dmUiLCJyb2xlcyI6WyJkZXBsb3kiXSwidmFsaWRfZnJvbSI6bnVsbCwidmFsaWRf" +
        "dW50aWwiOiIyMDI2LTEyLTMxVDAwOjAwOjAwWiJ9",
      "q96AAHrSwC-cyn16uFOgrNU_gzLp-N0XXD2dPA-xcZLHk11etlC7sgH8WjU4s6sP" +
        "cw84O0udWA22ppEuEah3BA",
    ),
    line(
      "eyJzcGVjX3ZlcnNpb24iOiJzaWcvMC4xIiwiZXZlbnRfaWQiOiJhY21lLTMiLCJl" +
        "dmVudF90eXBlIjoicmVsYXRpb25zaGlwLnJldm9rZSIsImlzc3VlciI6ImRpZDp3" +
        "ZWI6YWNtZS5leGFtcGxlIiwiaXNzdWVkX2F0IjoiMjAyNi0wMy0wMlQwOTowMDow" +
        "MFoiLCJzZXF1ZW5jZSI6MywicmVsYXRpb25zaGlwX2lkIjoiYm9iLTEiLCJzdWJq" +
        "ZWN0IjoiZGlkOndlYjpib2IuZXhhbXBsZSIsInZpc2liaWxpdHkiOiJwdWJsaWMi" +
        "LCJyZXZva2VzX3JlbGF0aW9uc2hpcF9pZCI6ImJvYi0xIiwicmVhc29uX2NvZGUi" +
        "OiJjb250cmFjdF9lbmRlZCIsImVmZmVjdGl2ZV9hdCI6IjIwMjYtMDMtMDFUMDA6" +
        "MDA6MDBaIn0",
      "v2RBvxA3EAp44sQQ3mopRizWRoOyqqmIMK4Vrd7Q51NIo7BMB2yxQ63Ylk-T9r-7" +
        "RYybZM1S1j-ug2bjTwyEAw",
    ),
  ].join(""),
};

const { did_document: _, ...documents } = EXAMPLE_FEED;

/** The same with its first event only, and without a DID document. */
export const SHORT_FEED: InlineFeed = { ...documents, events: FIRST_LINE };
