/** The embedded page: every file that it needs, as text. @module */

import api from "./api.js" with { type: "text" };
import app from "./app.js" with { type: "text" };
import approveCard from "./approve_card.js" with { type: "text" };
import askForm from "./ask_form.js" with { type: "text" };
import attestation from "./attestation.js" with { type: "text" };
import byHand from "./by_hand.js" with { type: "text" };
import commandLine from "./command_line.js" with { type: "text" };
import copyButton from "./copy_button.js" with { type: "text" };
import documents from "./documents.js" with { type: "text" };
import dom from "./dom.js" with { type: "text" };
import ed25519Support from "./ed25519_support.js" with { type: "text" };
import eventItems from "./event_items.js" with { type: "text" };
import explanation from "./explanation.js" with { type: "text" };
import exploreView from "./explore_view.js" with { type: "text" };
import feedCheck from "./feed_check.js" with { type: "text" };
import format from "./format.js" with { type: "text" };
import keyCard from "./key_card.js" with { type: "text" };
import keyStore from "./key_store.js" with { type: "text" };
import log from "./log.js" with { type: "text" };
import longList from "./long_list.js" with { type: "text" };
import problems from "./problems.js" with { type: "text" };
import relationships from "./relationships.js" with { type: "text" };
import requestCard from "./request_card.js" with { type: "text" };
import resultCard from "./result_card.js" with { type: "text" };
import signInView from "./sign_in_view.js" with { type: "text" };
import timeline from "./timeline.js" with { type: "text" };
import tour from "./tour.js" with { type: "text" };
import verdict from "./verdict.js" with { type: "text" };
import verify from "./verify.js" with { type: "text" };
import icon from "./icon.svg" with { type: "text" };
import page from "./index.html" with { type: "text" };
import style from "./style.css" with { type: "text" };

/** A file of the page. */
export interface Asset {
  /** The value of `content-type`. */
  readonly type: string;
  /** The content, UTF-8 when sent. */
  readonly text: string;
}

const SCRIPTS: { readonly [name: string]: string } = {
  "api.js": api,
  "app.js": app,
  "approve_card.js": approveCard,
  "ask_form.js": askForm,
  "attestation.js": attestation,
  "by_hand.js": byHand,
  "command_line.js": commandLine,
  "copy_button.js": copyButton,
  "documents.js": documents,
  "dom.js": dom,
  "ed25519_support.js": ed25519Support,
  "event_items.js": eventItems,
  "explanation.js": explanation,
  "explore_view.js": exploreView,
  "feed_check.js": feedCheck,
  "format.js": format,
  "key_card.js": keyCard,
  "key_store.js": keyStore,
  "log.js": log,
  "long_list.js": longList,
  "problems.js": problems,
  "relationships.js": relationships,
  "request_card.js": requestCard,
  "result_card.js": resultCard,
  "sign_in_view.js": signInView,
  "timeline.js": timeline,
  "tour.js": tour,
  "verdict.js": verdict,
  "verify.js": verify,
};

/**
 * The page's files by the path that they are served under: `/` and `/ui/…`.
 *
 * @example
 * ```ts
 * import { ASSETS } from "./assets.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(ASSETS.get("/")?.type, "text/html; charset=utf-8");
 * ```
 */
export const ASSETS: ReadonlyMap<string, Asset> = new Map([
  ["/", { type: "text/html; charset=utf-8", text: page }],
  ["/ui/style.css", { type: "text/css; charset=utf-8", text: style }],
  ["/ui/icon.svg", { type: "image/svg+xml", text: icon }],
  ...Object.entries(SCRIPTS).map(([name, text]): [string, Asset] => [
    `/ui/${name}`,
    { type: "text/javascript; charset=utf-8", text },
  ]),
]);

/**
 * What the page may do: its own scripts and styles, requests to its own server,
 * and nothing else; no other site may frame it. (SECURITY §5, W8)
 */
export const PAGE_CSP: string = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");
