/** A browser with cookies for each host; the test plays the proxies. */

import type { Person } from "../../testdata/independent_client.ts";
import {
  Browser,
  type TestProvider,
} from "../../openid/testdata/test_provider.ts";

/** The end of a chain of redirects. */
export interface Arrival {
  readonly url: URL;
  /** The address of every step. */
  readonly steps: readonly string[];
  /** The page of a refusal; undefined elsewhere. */
  readonly refusal?: string;
}

const MAX_STEPS = 12;

/** The login server. */
type Login = Pick<TestProvider, "origin" | "now">;

/** A browser at the login and at applications behind proxies. */
export class Visitor {
  /** Its cookies at the login. */
  readonly login = new Browser();
  readonly #provider: Login;
  readonly #hosts = new Map<string, Browser>();

  constructor(provider: Login) {
    this.#provider = provider;
  }

  /**
   * Logs a new employee in; returns the visitor and the end of the redirects.
   */
  static async logIn(provider: TestProvider, url: string) {
    const employed = await provider.employ();
    const visitor = new Visitor(provider);
    const arrival = await visitor.logIn(employed.person, url);
    return { ...employed, visitor, arrival };
  }

  /** Returns the browser with its cookies at a host. */
  at(host: string): Browser {
    const browser = this.#hosts.get(host) ?? new Browser();
    this.#hosts.set(host, browser);
    return browser;
  }

  /** Requests `/forward-auth` as the proxy of a host does. */
  async ask(host: string, headers: Record<string, string> = {}) {
    const response = await this.through(host, "/forward-auth", headers);
    await response.body?.cancel();
    return response;
  }

  /** Requests a path of the login server through the proxy of a host. */
  async through(
    host: string,
    path: string,
    headers: Record<string, string> = {},
  ) {
    return await this.at(host).send(this.#provider.origin + path, {
      headers: { "x-forwarded-host": host, ...headers },
    });
  }

  /** Follows redirects, until a page of the login or of an application. */
  async walk(start: string): Promise<Arrival> {
    const { origin } = this.#provider;
    const steps: string[] = [];
    let url = new URL(start);
    for (;;) {
      steps.push(url.href);
      if (steps.length > MAX_STEPS) throw new Error(steps.join("\n"));
      const isLogin = url.origin === origin;
      const isPage = isLogin
        ? url.pathname === "/"
        : url.pathname !== "/_sig/return";
      if (isPage) return { url, steps };
      const response = isLogin
        ? await this.login.send(url.href)
        : await this.through(url.host, url.pathname + url.search);
      const text = await response.text();
      const location = response.headers.get("location");
      if (location === null) {
        return { url, steps, refusal: `${response.status} ${text}` };
      }
      url = new URL(location);
    }
  }

  /** Signs in on the login page, then follows further redirects. */
  async sign(person: Person, { url }: Arrival): Promise<Arrival> {
    const id = url.hash.split("/").pop() ?? "";
    const { finish } = await this.login.signAt(this.#provider, person, id);
    return await this.walk((await finish()).href);
  }

  /** Opens a protected page and logs in. */
  async logIn(person: Person, address: string): Promise<Arrival> {
    return await this.sign(person, await this.walk(this.gate(address)));
  }

  /** Returns the login address that nginx redirects to, with a raw `rd`. */
  readonly gate = (address: string): string =>
    `${this.#provider.origin}/gate/login?rd=${address}`;
}
