/** The demo's own routes. @module */

import type { Route } from "@sig/api/http";
import { object, readAs, text } from "@sig/api/requests";
import { WELL_KNOWN_PATHS } from "@sig/core";
import { requireSubject } from "../login/create_challenge.ts";
import { replyDocument } from "../requests/reply_document.ts";
import type { DemoApp } from "./apps/demo_app.ts";
import type { DemoIssuer } from "./demo_issuer.ts";

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

/**
 * `POST /demo/enrol` `{subject, name?}`, `POST /demo/revoke`
 * `{relationship_id}`, `GET /demo/apps?subject=…`, and the issuer's four
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
      path: "/demo/apps",
      async handle(exchange) {
        const { searchParams } = new URL(exchange.request.url);
        const subject = searchParams.get("subject") ?? "";
        requireSubject(subject, true);
        const open = await Promise.all(
          apps.map((app) => app.isOpenTo(subject)),
        );
        return exchange.json({ open });
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
