/** The demo's own routes (INTERFACES §4). @module */

import type { Route } from "@sig/api/http";
import {
  isObject,
  type Issue,
  quote,
  SigError,
  WELL_KNOWN_PATHS,
} from "@sig/core";
import type { DemoIssuer } from "./demo_issuer.ts";

const MAX_BODY_BYTES = 4096;
const MAX_NAME_LENGTH = 200;

/**
 * `POST /demo/enrol` `{subject, name?}`, `POST /demo/revoke`
 * `{relationship_id}`, and the issuer's four documents where every issuer has
 * them.
 */
export function createDemoRoutes(demo: DemoIssuer): readonly Route[] {
  return [
    {
      method: "POST",
      path: "/demo/enrol",
      async handle(exchange) {
        const { subject, name } = readTexts(
          await exchange.readJson(MAX_BODY_BYTES),
          ["subject"],
          ["name"],
        );
        return exchange.json(await demo.enrol(subject!, name));
      },
    },
    {
      method: "POST",
      path: "/demo/revoke",
      async handle(exchange) {
        const { relationship_id } = readTexts(
          await exchange.readJson(MAX_BODY_BYTES),
          ["relationship_id"],
          [],
        );
        return exchange.json(await demo.revoke(relationship_id!));
      },
    },
    ...Object.values(WELL_KNOWN_PATHS).map((path): Route => ({
      method: "GET",
      path,
      handle: (exchange) => {
        const bytes = demo.document(path);
        if (bytes === undefined) throw missing();
        return exchange.reply(new TextDecoder().decode(bytes), {
          type: path.endsWith(".jsonl")
            ? "application/x-ndjson"
            : "application/json",
        });
      },
    })),
  ];
}

function missing(): SigError {
  return new SigError("not_found", "Cannot answer: there is no such document");
}

/** Reads an object of strings; names everything that is wrong with it. */
function readTexts(
  body: unknown,
  required: readonly string[],
  optional: readonly string[],
): { readonly [name: string]: string | undefined } {
  const object = isObject(body) ? body : {};
  const errors: Issue[] = isObject(body)
    ? []
    : [issue("", "invalid_field", "the body must be one JSON object")];
  const texts: { [name: string]: string | undefined } = {};
  for (const name of Object.keys(object)) {
    if (required.includes(name) || optional.includes(name)) continue;
    errors.push(issue("", "invalid_field", `${quote(name)} is not known`));
  }
  for (const name of [...required, ...optional]) {
    const value = object[name];
    if (typeof value === "string" && value.length <= MAX_NAME_LENGTH * 4) {
      texts[name] = value;
    } else if (value !== undefined || required.includes(name)) {
      const code = value === undefined ? "missing_field" : "invalid_field";
      errors.push(issue(`/${name}`, code, `${name} must be a string`));
    }
  }
  if (errors.length === 0) return texts;
  throw new SigError(
    "invalid_request",
    `Cannot read request: ${errors[0]!.detail}`,
    { context: { errors } },
  );
}

function issue(
  pointer: string,
  code: Issue["code"],
  detail: string,
): Issue {
  return { pointer, code, detail };
}
