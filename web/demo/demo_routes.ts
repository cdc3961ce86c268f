/** The demo's own routes. @module */

import type { Route } from "@sig/api/http";
import { WELL_KNOWN_PATHS } from "@sig/core";
import { checkSubject } from "../login/subject_did.ts";
import { replyDocument } from "../requests/reply_document.ts";
import { RequestMembers } from "../requests/request_members.ts";
import type { DemoIssuer } from "./demo_issuer.ts";

const MAX_BODY_BYTES = 4096;
const MAX_NAME_LENGTH = 200;

/**
 * `POST /demo/enrol` `{subject, name?}`, `POST /demo/revoke`
 * `{relationship_id}`, and the issuer's four documents where every issuer has
 * them. A subject is a DID that can log in; what is wrong with an id is for the
 * issuer to say.
 */
export function createDemoRoutes(demo: DemoIssuer): readonly Route[] {
  return [
    {
      method: "POST",
      path: "/demo/enrol",
      async handle(exchange) {
        const members = new RequestMembers(
          "enrol",
          await exchange.readJson(MAX_BODY_BYTES),
          ["subject", "name"],
        );
        const subject = members.requiredText("subject");
        const name = members.text("name", MAX_NAME_LENGTH);
        members.finish();
        checkSubject(subject, true);
        return exchange.json(await demo.enrol(subject, name));
      },
    },
    {
      method: "POST",
      path: "/demo/revoke",
      async handle(exchange) {
        const members = new RequestMembers(
          "revoke",
          await exchange.readJson(MAX_BODY_BYTES),
          ["relationship_id"],
        );
        const relationshipId = members.requiredText("relationship_id");
        members.finish();
        return exchange.json(await demo.revoke(relationshipId));
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
