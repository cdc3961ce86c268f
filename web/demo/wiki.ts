/**
 * The wiki, which has no login, together with the proxy in front of it: in one
 * process, the same as nginx and Caddy with the configurations of `sig export`.
 *
 * @module
 */

import { raw } from "hono/html";
import {
  type AppContext,
  askLogin,
  createDemoApp,
  type DemoApp,
  fill,
  type Visitor,
} from "./demo_app.ts";
import article from "./wiki.html" with { type: "text" };

/**
 * Creates the wiki. It identifies a visitor by the headers of the login's
 * response, never by a header of the browser.
 *
 * @param login The login's origin.
 * @param origin The wiki's own origin.
 */
export function createWiki(
  login: string,
  origin: string,
  context: AppContext,
): DemoApp {
  const url = `${origin}/`;
  return createDemoApp({
    name: "Wiki",
    url,
    how: "It has no login: a proxy asks for it, like nginx or Caddy.",
    async whoIs(cookie) {
      const { host } = new URL(url);
      const answer = await askLogin(`${login}/forward-auth`, 401, {
        headers: { cookie, "x-forwarded-host": host },
      });
      await answer?.body?.cancel();
      return answer && visitorOf(answer.headers);
    },
    logIn: (c) =>
      c.redirect(`${login}/gate/login?rd=${encodeURIComponent(url)}`, 303),
    content: ({ groups }) =>
      raw(fill(article, {
        who: groups.includes("role:deploy")
          ? "You may: your employer’s feed gives you the role deploy."
          : "Everybody with the role deploy. Your employer’s feed does not give it to you.",
      })),
  }, context);
}

function visitorOf(headers: Headers): Visitor {
  const subject = headers.get("remote-user") ?? "";
  return {
    subject,
    name: utf8Of(headers.get("remote-name") ?? subject),
    groups: (headers.get("remote-groups") ?? "").split(","),
  };
}

/** A header holds bytes, each as one character. */
function utf8Of(text: string): string {
  const bytes = Uint8Array.from(text, (each) => each.charCodeAt(0));
  return new TextDecoder().decode(bytes);
}
