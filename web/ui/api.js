// @ts-check
/// <reference lib="dom" />
/** What the server offers this page. @module */

/**
 * @typedef {object} IssuerConfig
 * @property {string} did
 * @property {string} base Where its documents are, ending in a slash.
 */

/**
 * @typedef {object} Config
 * @property {string} service
 * @property {string} version
 * @property {readonly string[]} audiences
 * @property {number} ttl_seconds
 * @property {readonly IssuerConfig[]} issuers
 * @property {readonly string[] | null} require
 * @property {string | null} issuer
 * @property {boolean} demo
 */

/**
 * @typedef {object} Challenge
 * @property {string} challenge_id
 * @property {string} audience
 * @property {string} nonce
 * @property {readonly string[]} scopes
 * @property {string | null} subject
 * @property {readonly string[] | null} require
 * @property {string} issued_at
 * @property {string} expires_at
 * @property {string} message
 */

/**
 * @typedef {object} Login
 * @property {true} verified
 * @property {string} subject
 * @property {string} audience
 * @property {readonly string[]} scopes
 * @property {string} challenge_id
 * @property {string} kid
 * @property {string} verified_at
 * @property {Record<string, unknown> | null} relationship
 */

/**
 * One request and what came of it, for the developers' log.
 *
 * @typedef {object} Exchange
 * @property {string} method
 * @property {string} path
 * @property {unknown} sent
 * @property {number} status 0 when there was no answer.
 * @property {unknown} received
 */

/** A refusal: the server's problem details, or that it gave no answer. */
export class Problem extends Error {
  /** The stable code; `no_answer` is this page's own. */
  code;
  /** What to do next, if the server says so. */
  hint;
  /** All of it. */
  body;

  /**
   * @param {string} code
   * @param {string} detail
   * @param {Record<string, unknown>} [body]
   */
  constructor(code, detail, body = {}) {
    super(detail);
    this.code = code;
    this.body = body;
    this.hint = typeof body.hint === "string" ? body.hint : "";
  }
}

/**
 * Speaks with the server.
 *
 * @param {(exchange: Exchange) => void} onExchange Told of each request.
 */
export function createApi(onExchange) {
  /**
   * @param {"GET" | "POST"} method
   * @param {string} path
   * @param {unknown} [sent]
   * @returns {Promise<unknown>}
   */
  async function call(method, path, sent) {
    /** @type {Response} */
    let response;
    try {
      response = await fetch(path, {
        method,
        cache: "no-store",
        redirect: "error",
        ...(sent === undefined ? {} : {
          headers: { "content-type": "application/json" },
          body: JSON.stringify(sent),
        }),
      });
    } catch {
      onExchange({ method, path, sent, status: 0, received: null });
      throw new Problem("no_answer", "The server did not answer.");
    }
    const text = await response.text().catch(() => "");
    const received = parse(text);
    onExchange({ method, path, sent, status: response.status, received });
    if (response.ok && received !== undefined) return received;
    const body = isRecord(received) ? received : {};
    throw new Problem(
      typeof body.code === "string" ? body.code : "no_answer",
      typeof body.detail === "string"
        ? body.detail
        : `The server answered with status ${response.status}.`,
      body,
    );
  }

  return {
    /** @returns {Promise<Config>} */
    async config() {
      return /** @type {Config} */ (await call("GET", "/ui/config.json"));
    },
    /**
     * @param {{ audience?: string, scopes: readonly string[], subject?: string, ttl_seconds?: number }} wanted
     * @returns {Promise<Challenge>}
     */
    async createChallenge(wanted) {
      return /** @type {Challenge} */ (
        await call("POST", "/v1/auth/challenge/create", wanted)
      );
    },
    /**
     * @param {string} attestation
     * @returns {Promise<Login>}
     */
    async verifyAttestation(attestation) {
      return /** @type {Login} */ (
        await call("POST", "/v1/auth/attestation/verify", { attestation })
      );
    },
    /**
     * @param {{ subject: string, name?: string }} person
     * @returns {Promise<{ relationship_id: string, sequence: number }>}
     */
    async enrol(person) {
      return /** @type {{ relationship_id: string, sequence: number }} */ (
        await call("POST", "/demo/enrol", person)
      );
    },
    /**
     * @param {string} relationshipId
     * @returns {Promise<{ sequence: number }>}
     */
    async revoke(relationshipId) {
      return /** @type {{ sequence: number }} */ (
        await call("POST", "/demo/revoke", { relationship_id: relationshipId })
      );
    },
  };
}

/** @typedef {ReturnType<typeof createApi>} Api */

/**
 * @param {string} text
 * @returns {unknown} Undefined for what is not JSON.
 */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
export function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
