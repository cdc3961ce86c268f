/** A login server whose clock the test sets. */

import type { App } from "@sig/api/internal/http";
import { assertEquals } from "@std/assert";
import { type AppOptions, createApp } from "../app.ts";
import type { GivenChallenge } from "./independent_client.ts";
import { type Answer, readAnswer } from "./answer.ts";

/** The origin of the server. */
export const ORIGIN = "http://127.0.0.1:8788";
/** The initial time of its clock, in milliseconds since 1970. */
export const START_MS = Date.parse("2026-01-31T09:00:00Z");

/** A server whose clock the test sets. */
export class Site {
  nowMs = START_MS;
  readonly app: App;

  constructor(options: Partial<AppOptions> = {}) {
    this.app = createApp({
      audiences: [ORIGIN],
      now: () => new Date(this.nowMs),
      ...options,
    });
  }

  async ask(path: string, sent?: unknown): Promise<Answer> {
    return await readAnswer(this.app.fetch(
      new Request(
        `${ORIGIN}${path}`,
        sent === undefined ? {} : {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(sent),
        },
      ),
    ));
  }

  async challenge(wanted: object = {}): Promise<GivenChallenge> {
    const { status, body } = await this.ask(
      "/v1/auth/challenge/create",
      wanted,
    );
    assertEquals(status, 200);
    return body;
  }

  async verify(attestation: string, more: object = {}): Promise<Answer> {
    return await this.ask("/v1/auth/attestation/verify", {
      attestation,
      ...more,
    });
  }
}
