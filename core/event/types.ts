/**
 * The wire types; members are named as they are sent (docs/protocol.md §1–§4).
 *
 * @module
 */

/** The protocol version that this toolkit speaks. */
export const SPEC_VERSION = "sig/0.1";

/** The `typ` of an event's protected header. */
export const EVENT_TYP = "sig-event+jws";

/** The `typ` of a login attestation's header. */
export const ATTESTATION_TYP = "sig-attestation+jwt";

/** The `typ` of an invitation's header (docs/protocol.md §9). */
export const INVITATION_TYP = "sig-invitation+jwt";

/** Every relationship type of v0.1. */
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

/** Every reason for a revocation of v0.1. */
export const REASON_CODES = [
  "employment_ended",
  "contract_ended",
  "permission_revoked",
  "superseded",
  "admin_action",
  "error_correction",
  "other",
] as const;

/** A reason for a revocation of v0.1. */
export type ReasonCode = (typeof REASON_CODES)[number];

/** Who may read an event. */
export type Visibility = "public" | "private";

/** A JSON object whose members are the issuer's own business. */
export type OpenObject = { readonly [member: string]: unknown };

/** What every event says. */
export interface EventBase {
  /** Always `sig/0.1`. */
  readonly spec_version: typeof SPEC_VERSION;
  /** Unique in the feed. */
  readonly event_id: string;
  /** The issuer's DID. */
  readonly issuer: string;
  /** When the issuer says it was issued: RFC 3339 UTC. */
  readonly issued_at: string;
  /** 1, 2, 3, … without gaps. */
  readonly sequence: number;
  /** The relationship that the event is about. */
  readonly relationship_id: string;
  /** The party that the relationship is about, usually a DID. */
  readonly subject: string;
  /** Who may read it. */
  readonly visibility: Visibility;
  /** For people. */
  readonly reason?: string | null;
  /** The issuer's own members. */
  readonly metadata?: OpenObject | null;
}

/** How a relationship is shown to people; other members are free. */
export interface Display {
  /** Job or role title. */
  readonly title?: string | null;
  /** Department or team. */
  readonly department?: string | null;
  /** Free text. */
  readonly label?: string | null;
  /** Anything else. */
  readonly [member: string]: unknown;
}

/** A relationship begins, or changes: it replaces all that was before. */
export interface RelationshipUpsertEvent extends EventBase {
  /** Always `relationship.upsert`. */
  readonly event_type: "relationship.upsert";
  /** What kind of relationship. */
  readonly relationship_type: RelationshipType;
  /** Always `active` in v0.1. */
  readonly status: "active";
  /** May be empty. */
  readonly roles: readonly string[];
  /** Start of validity (inclusive), or null for no defined start. */
  readonly valid_from: string | null;
  /** End of validity (exclusive), or null for no defined end. */
  readonly valid_until: string | null;
  /** For people. */
  readonly display?: Display | null;
}

/** A relationship ends. */
export interface RelationshipRevokeEvent extends EventBase {
  /** Always `relationship.revoke`. */
  readonly event_type: "relationship.revoke";
  /** Equals `relationship_id`. */
  readonly revokes_relationship_id: string;
  /** Why. */
  readonly reason_code: ReasonCode;
  /** Since when: RFC 3339 UTC, in the past or now. */
  readonly effective_at: string;
}

/** An event of SIG v0.1. */
export type SigEvent = RelationshipUpsertEvent | RelationshipRevokeEvent;

/** An event of a type that v0.1 does not know, read on request only. */
export interface UnknownEvent extends EventBase {
  /** Anything but the two types of v0.1. */
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

/** A public Ed25519 key as JWK (RFC 8037). */
export interface Jwk {
  /** Always `OKP`. */
  readonly kty: "OKP";
  /** Always `Ed25519`. */
  readonly crv: "Ed25519";
  /** base64url of the 32 bytes of the public key. */
  readonly x: string;
  /** Key identifier. */
  readonly kid?: string;
  /** `sig` when present. */
  readonly use?: string;
  /** `EdDSA` when present. */
  readonly alg?: string;
  /** Contains `verify` when present. */
  readonly key_ops?: readonly string[];
}

/** A private Ed25519 key as JWK. Never to be published, logged or shown. */
export interface PrivateJwk extends Jwk {
  /** base64url of the 32 bytes of the seed. */
  readonly d: string;
}

/** A key set (RFC 7517). */
export interface Jwks {
  /** The keys; order matters to issuers only. */
  readonly keys: readonly Jwk[];
}

/** `/.well-known/sig.json`. */
export interface SigMetadata {
  /** Always `sig/0.1`. */
  readonly spec_version: typeof SPEC_VERSION;
  /** The issuer's DID. */
  readonly issuer: string;
  /** Where the key set is. */
  readonly jwks_uri: string;
  /** Where the feed is. */
  readonly events_uri: string;
  /** Whether the feed holds public events only. */
  readonly public_only: boolean;
  /** Contains `EdDSA`. */
  readonly algorithms_supported: readonly string[];
  /** `jws-flattened` when present. */
  readonly event_serialization?: "jws-flattened";
  /** Where the proofs are: `<scheme>://<host>/.well-known/sig/`. */
  readonly proofs_uri?: string;
}

/** A method of a DID document that holds a JWK. */
export interface VerificationMethod {
  /** `<did>#<kid>`. */
  readonly id: string;
  /** Usually `JsonWebKey2020`. */
  readonly type: string;
  /** The DID. */
  readonly controller: string;
  /** Its public part. */
  readonly publicKeyJwk: Jwk;
}

/** `/.well-known/did.json`, as far as SIG reads it. */
export interface DidDocument {
  /** JSON-LD contexts. */
  readonly "@context": readonly string[];
  /** The DID. */
  readonly id: string;
  /** The keys. */
  readonly verificationMethod: readonly VerificationMethod[];
  /** The methods that may sign events. */
  readonly assertionMethod: readonly string[];
}

/** What the feed says of one relationship: exactly the fields of docs/protocol.md §4. */
export interface RelationshipState {
  /** The issuer's DID. */
  readonly issuer: string;
  /** The relationship. */
  readonly relationship_id: string;
  /** The party that it is about. */
  readonly subject: string;
  /** What kind of relationship. */
  readonly relationship_type: RelationshipType;
  /** The roles. */
  readonly roles: readonly string[];
  /** Start of validity (inclusive), or null. */
  readonly valid_from: string | null;
  /** End of validity (exclusive), or null. */
  readonly valid_until: string | null;
  /** `active` or `revoked`; validity is not looked at. */
  readonly status: "active" | "revoked";
  /** Present when revoked only. */
  readonly revoked_reason_code?: ReasonCode;
  /** Present when revoked only. */
  readonly revoked_effective_at?: string;
  /** Sequence of the last event applied. */
  readonly last_sequence: number;
}

/** Every oddity. */
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
  "warnings_left_out",
] as const;

/** Every code of a warning. */
export type WarningCode = (typeof WARNING_CODES)[number];

/** Something odd that does not make a feed invalid. */
export interface Warning {
  /** Which oddity. */
  readonly code: WarningCode;
  /** In words. */
  readonly detail: string;
  /** Where, if it is about an event. */
  readonly sequence?: number;
  /** Line of the feed, if known. */
  readonly line?: number;
}
