/** The demo's own routes. @module */

import type { Route } from "@sig/api/http";
import { object, readAs, text } from "@sig/api/requests";
import { WELL_KNOWN_PATHS } from "@sig/core";
import { requireSubject } from "../login/create_challenge.ts";
import { replyDocument } from "../requests/reply_document.ts";
import type { DemoApp } from "./apps/demo_app.ts";
import type {
  DemoIssuer,
  DemoRelationship,
  SignedEvent,
} from "./demo_issuer.ts";

const MAX_BODY_BYTES = 4096;
const MAX_NAME_LENGTH = 200;

const ENROL = object<{ readonly subject: string; readonly name?: string }>({
  members: { subject: text(), name: text({ maxLength: MAX_NAME_LENGTH }) },
  required: ["subject"],
});

const REVOKE = object<{ readonly relationship_id: string }>({
  members: { relationship_id: text() },
  required: ["relationship_id"],
});

/** What the page's story is drawn from. */
export interface DemoState {
  /** The subject that was asked about, or null. */
  readonly subject: string | null;
  /** The issuer's last word on it. */
  readonly relationship: DemoRelationship | null;
  /** The last events, the newest first. */
  readonly events: readonly SignedEvent[];
  /** How many there are. */
  readonly total: number;
  /** The applications, and whether they are open to the subject. */
  readonly apps: readonly {
    readonly name: string;
    readonly url: string;
    readonly how: string;
    readonly open: boolean;
  }[];
}

const SHOWN_EVENTS = 6;

/**
 * `POST /demo/enrol` `{subject, name?}`, `POST /demo/revoke`
 * `{relationship_id}`, `GET /demo/state?subject=…`, and the issuer's four
 * documents where every issuer has them. A subject is a DID that can log in; what is wrong with an id is for the
 * issuer to say.
 */
export function createDemoRoutes(
  demo: DemoIssuer,
  apps: readonly DemoApp[],
): readonly Route[] {
  return [
    {
      method: "POST",
      path: "/demo/enrol",
      async handle(exchange) {
        const body = await exchange.readJson(MAX_BODY_BYTES);
        const { subject, name } = readAs(ENROL, body);
        requireSubject(subject, true);
        return exchange.json(await demo.enrol(subject, name));
      },
    },
    {
      method: "POST",
      path: "/demo/revoke",
      async handle(exchange) {
        const body = await exchange.readJson(MAX_BODY_BYTES);
        const { relationship_id } = readAs(REVOKE, body);
        return exchange.json(await demo.revoke(relationship_id));
      },
    },
    {
      method: "GET",
      path: "/demo/state",
      async handle(exchange) {
        const { searchParams } = new URL(exchange.request.url);
        const subject = searchParams.get("subject");
        if (subject !== null) requireSubject(subject, true);
        const known = demo.relationshipOf(subject ?? "");
        const state: DemoState = {
          subject,
          relationship: known ?? null,
          events: demo.events.slice(0, SHOWN_EVENTS),
          total: demo.events.length,
          apps: await Promise.all(
            apps.map(async ({ name, url, how, isOpenTo }) => ({
              ...{ name, url, how },
              open: known !== undefined && await isOpenTo(subject ?? ""),
            })),
          ),
        };
        return exchange.json(state);
      },
    },
    ...Object.values(WELL_KNOWN_PATHS).map((path): Route => ({
      method: "GET",
      path,
      handle(exchange) {
        const bytes = demo.document(path);
        const text = bytes && new TextDecoder().decode(bytes);
        return replyDocument(exchange, path, text);
      },
    })),
  ];
}
