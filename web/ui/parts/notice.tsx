/** What is told with a mark. @module */

import type { ComponentChildren } from "preact";
import { Icon, type Mark } from "./icon.tsx";

/** What kind of news. */
export type Kind = "success" | "danger" | "warning" | "info" | "neutral";

const MARKS: Readonly<Record<Kind, Mark>> = {
  success: "yes",
  danger: "no",
  warning: "warning",
  info: "warning",
  neutral: "dot",
};

/** Some lines with their mark. */
export function Notice({ kind, children }: {
  readonly kind: Kind;
  readonly children: ComponentChildren;
}) {
  return (
    <div class="notice" data-kind={kind}>
      <Icon name={MARKS[kind]} />
      <div>{children}</div>
    </div>
  );
}

/** A word for a state, with its mark. */
export function Badge({ kind, mark, children }: {
  readonly kind: Kind;
  readonly mark?: Mark | undefined;
  readonly children: ComponentChildren;
}) {
  return (
    <span class="badge" data-kind={kind}>
      <Icon name={mark ?? MARKS[kind]} />
      {children}
    </span>
  );
}
