/** The applications that a person approved, with buttons to revoke approvals. @module */

import { useEffect, useState } from "preact/hooks";
import { Problem, request } from "../api.ts";
import { Button } from "../elements.tsx";
import { permissionLabel, scopeLabel } from "../sign_in/labels.ts";
import { visibleText } from "../text.ts";
import { spokenTime } from "../time.tsx";

/** The response of `/oidc/consents` (docs/openid.md). */
interface Consents {
  /** The subject that is signed in, or null. */
  readonly subject: string | null;
  readonly consents: readonly {
    readonly client_id: string;
    readonly client_name: string;
    readonly scopes: readonly string[];
    readonly since: string;
  }[];
}

/** One card for each application. */
export function ConsentsView() {
  const [answer, setAnswer] = useState<Consents | undefined>();
  const [error, setError] = useState("");
  const show = async (asked: Promise<Consents>) => {
    setError("");
    try {
      setAnswer(await asked);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setError(error.message);
    }
  };
  useEffect(() => void show(request("/oidc/consents")), []);
  return (
    <section class="stack" id="consents">
      <h2>Applications</h2>
      <p class="error" role="alert">{visibleText(error)}</p>
      {answer !== undefined && answer.subject !== null && (
        <p>
          You are signed in here.{" "}
          <a class="button" href="/oidc/logout">Sign out</a>
        </p>
      )}
      {answer !== undefined && answer.consents.length === 0 && (
        <p class="quiet">
          {answer.subject === null
            ? "You are not signed in here. Sign in from an application, and it will be listed."
            : "You have not approved any application."}
        </p>
      )}
      <ul class="plain">
        {answer?.consents.map(({ client_id, client_name, scopes, since }) => (
          <li key={client_id} class="card">
            <h3>{visibleText(client_name || client_id)}</h3>
            <p class="quiet">
              Approved{" "}
              {spokenTime(since, new Date())}. It learns your key’s name
              {scopes.filter((each) =>
                each !== "openid" && !permissionLabel(each)
              ).map((scope) =>
                `, ${scopeLabel(scope)}`
              )}.
              {scopes.map(permissionLabel).filter(Boolean).map((text) =>
                ` It may ${text}.`
              )}
            </p>
            <div class="actions">
              <Button
                class="danger"
                onClick={() =>
                  void show(request("/oidc/consents/revoke", { client_id }))}
              >
                Take the approval back
                <span class="visually-hidden">
                  : {visibleText(client_name || client_id)}
                </span>
              </Button>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
