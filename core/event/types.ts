/**
 * The types of published JSON; members have their published names
 * (docs/protocol.md §1–§4).
 *
 * @module
 */

/** The protocol version that this toolkit implements. */
export const SPEC_VERSION = "sig/0.1";

/** The `typ` of an event's protected header. */
export const EVENT_TYP = "sig-event+jws";

/** The `typ` of a login attestation's header. */
export const ATTESTATION_TYP = "sig-attestation+jwt";

/** The `typ` of an invitation's header (docs/protocol.md §9). */
export const INVITATION_TYP = "sig-invitation+jwt";

/** The relationship types of v0.1. */
export const RELATIONSHIP_TYPES = [
  "employee",
  "founder",
  "contractor",
  "advisor",
  "investor",
  "admin_delegate",
  "other",
] as const;

/** A relationship type of v0.1. */
export type RelationshipType = (typeof RELATIONSHIP_TYPES)[number];

/** The reason codes of revocations in v0.1. */
export const REASON_CODES = [
  "employment_ended",
  "contract_ended",
  "permission_revoked",
  "superseded",
  "admin_action",
  "error_correction",
  "other",
] as const;

/** The reason code of a revocation in v0.1. */
export type ReasonCode = (typeof REASON_CODES)[number];

/** The intended audience of an event. */
export type Visibility = "public" | "private";

/** A JSON object with members that SIG does not define. */
export type OpenObject = { readonly [member: string]: unknown };

/** The members that all events share. */
export interface EventBase {
  /** Always `sig/0.1`. */
  readonly spec_version: typeof SPEC_VERSION;
  /** The event's identifier, unique in the feed. */
  readonly event_id: string;
  /** The issuer's DID. */
  readonly issuer: string;
  /** When the issuer claims to have issued it: RFC 3339 UTC. */
  readonly issued_at: string;
  /** The event's number in the feed: 1, 2, 3, … without gaps. */
  readonly sequence: number;
  /** The relationship that the event is about. */
  readonly relationship_id: string;
  /** The subject of the relationship, usually a DID. */
  readonly subject: string;
  /** The intended audience of the event. */
  readonly visibility: Visibility;
  /** A reason for people to read. */
  readonly reason?: string | null;
  /** Members that the issuer defines. */
  readonly metadata?: OpenObject | null;
}

/** How a relationship is shown to people; other members are allowed. */
export interface Display {
  /** Job or role title. */
  readonly title?: string | null;
  /** A department or team. */
  readonly department?: string | null;
  /** Any other label. */
  readonly label?: string | null;
  /** Members that the issuer defines. */
  readonly [member: string]: unknown;
}

/** An event that begins a relationship or replaces its state. */
export interface RelationshipUpsertEvent extends EventBase {
  /** Always `relationship.upsert`. */
  readonly event_type: "relationship.upsert";
  /** The relationship's type, such as `employee`. */
  readonly relationship_type: RelationshipType;
  /** Always `active` in v0.1. */
  readonly status: "active";
  /** The relationship's roles; may be empty. */
  readonly roles: readonly string[];
  /** Start of validity (inclusive), or null for no defined start. */
  readonly valid_from: string | null;
  /** End of validity (exclusive), or null for no defined end. */
  readonly valid_until: string | null;
  /** How the relationship is shown to people. */
  readonly display?: Display | null;
}

/** An event that ends a relationship. */
export interface RelationshipRevokeEvent extends EventBase {
  /** Always `relationship.revoke`. */
  readonly event_type: "relationship.revoke";
  /** Equals `relationship_id`. */
  readonly revokes_relationship_id: string;
  /** The reason of the revocation. */
  readonly reason_code: ReasonCode;
  /** When the revocation takes effect: RFC 3339 UTC, not in the future. */
  readonly effective_at: string;
}

/** An event of SIG v0.1. */
export type SigEvent = RelationshipUpsertEvent | RelationshipRevokeEvent;

/** An event of a type that v0.1 does not define, accepted on request only. */
export interface UnknownEvent extends EventBase {
  /** Any text but the two event types of v0.1. */
  readonly event_type: string;
}

/** An event's envelope: a line of the feed. */
export interface FlattenedJws {
  /** base64url of the protected header. */
  readonly protected: string;
  /** base64url of the event. */
  readonly payload: string;
  /** base64url of the 64 bytes of the Ed25519 signature. */
  readonly signature: string;
}

/** The protected header of an event. */
export interface EventHeader {
  /** Always `EdDSA`. */
  readonly alg: "EdDSA";
  /** The key's identifier in the issuer's key set. */
  readonly kid: string;
  /** Always `sig-event+jws`. */
  readonly typ: typeof EVENT_TYP;
}

/** A public Ed25519 key as a JWK (RFC 8037). */
export interface Jwk {
  /** Always `OKP`. */
  readonly kty: "OKP";
  /** Always `Ed25519`. */
  readonly crv: "Ed25519";
  /** base64url of the 32 bytes of the public key. */
  readonly x: string;
  /** The key identifier. */
  readonly kid?: string;
  /** `sig` when present. */
  readonly use?: string;
  /** `EdDSA` when present. */
  readonly alg?: string;
  /** Contains `verify` when present. */
  readonly key_ops?: readonly string[];
}

/** A private Ed25519 key as a JWK. Never publish, log or show it. */
export interface PrivateJwk extends Jwk {
  /** base64url of the 32 bytes of the seed. */
  readonly d: string;
}

/** A key set (RFC 7517). */
export interface Jwks {
  /** The keys. Their order matters to issuers only. */
  readonly keys: readonly Jwk[];
}

/** The metadata of an issuer: `/.well-known/sig.json`. */
export interface SigMetadata {
  /** Always `sig/0.1`. */
  readonly spec_version: typeof SPEC_VERSION;
  /** The issuer's DID. */
  readonly issuer: string;
  /** URL of the key set. */
  readonly jwks_uri: string;
  /** URL of the feed. */
  readonly events_uri: string;
  /** Whether the feed contains public events only. */
  readonly public_only: boolean;
  /** The signature algorithms; contain `EdDSA`. */
  readonly algorithms_supported: readonly string[];
  /** `jws-flattened` when present. */
  readonly event_serialization?: "jws-flattened";
  /** URL of the proofs: `<scheme>://<host>/.well-known/sig/`. */
  readonly proofs_uri?: string;
  /**
   * The commitment to a recovery key and its statements, to be read with
   * `readRecovery` of `@sig/jose/recovery`.
   */
  readonly recovery?: unknown;
}

/** A verification method of a DID document with a JWK. */
export interface VerificationMethod {
  /** The method's identifier: `<did>#<kid>`. */
  readonly id: string;
  /** The method's type, usually `JsonWebKey2020`. */
  readonly type: string;
  /** The DID that controls the key. */
  readonly controller: string;
  /** The public key. */
  readonly publicKeyJwk: Jwk;
}

/** The members of `/.well-known/did.json` that SIG reads. */
export interface DidDocument {
  /** JSON-LD contexts. */
  readonly "@context": readonly string[];
  /** The issuer's DID. */
  readonly id: string;
  /** The keys of the issuer. */
  readonly verificationMethod: readonly VerificationMethod[];
  /** The identifiers of the methods that may sign events. */
  readonly assertionMethod: readonly string[];
}

/** A relationship, with exactly the members of docs/protocol.md §4. */
export interface RelationshipState {
  /** The issuer's DID. */
  readonly issuer: string;
  /** The relationship's identifier. */
  readonly relationship_id: string;
  /** The subject of the relationship. */
  readonly subject: string;
  /** The relationship's type, such as `employee`. */
  readonly relationship_type: RelationshipType;
  /** The relationship's roles. */
  readonly roles: readonly string[];
  /** Start of validity (inclusive), or null. */
  readonly valid_from: string | null;
  /** End of validity (exclusive), or null. */
  readonly valid_until: string | null;
  /** `active` or `revoked`, independent of the period of validity. */
  readonly status: "active" | "revoked";
  /** The reason of the revocation; present only if revoked. */
  readonly revoked_reason_code?: ReasonCode;
  /** When the revocation takes effect; present only if revoked. */
  readonly revoked_effective_at?: string;
  /** Sequence of the last event applied. */
  readonly last_sequence: number;
}

/** The codes of warnings. */
export const WARNING_CODES = [
  "did_document_missing",
  "media_type_unexpected",
  "revoke_without_upsert",
  "revoked_again",
  "subject_not_did",
  "subject_changed",
  "issued_at_back",
  "issued_at_future",
  "effective_at_future",
  "unknown_event_ignored",
  "field_over_limit",
  "history_was_inconsistent",
  "memory_unavailable",
  "key_added",
  "proof_not_used",
  "feed_behind_checkpoint",
  "proofs_behind",
  "event_void",
  "never_seen",
  "recovery_added",
  "warnings_left_out",
] as const;

/** The code of a warning. */
export type WarningCode = (typeof WARNING_CODES)[number];

/** An oddity that does not make a feed invalid. */
export interface Warning {
  /** The code of the warning. */
  readonly code: WarningCode;
  /** A description for people. */
  readonly detail: string;
  /** Sequence of the event, if the warning concerns one. */
  readonly sequence?: number;
  /** Line number in the feed, if known. */
  readonly line?: number;
}
