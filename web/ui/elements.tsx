/** The elements that views share, and the focus of their headings. @module */

import type { ButtonHTMLAttributes, ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { visibleText } from "./text.ts";

/** Moves the focus to a heading, and scrolls its card into view. */
export function focusOn(element: HTMLElement): void {
  element.tabIndex = -1;
  element.focus({ preventScroll: true });
  const card = element.closest(".card") ?? element;
  card.scrollIntoView({ block: "nearest" });
}

/**
 * Returns the reference for a heading that takes the focus when it appears, so
 * that screen readers read it.
 */
function useAutoFocus(autoFocus: boolean) {
  const ref = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    if (autoFocus && ref.current) focusOn(ref.current);
  }, []);
  return ref;
}

interface Children {
  readonly children?: ComponentChildren;
}

const ICONS = {
  yes: "M5 12.5 10 17.5 19 7",
  no: "M7 7 17 17M17 7 7 17",
  warning: "M12 6v7.500M12 17.500v.010",
  clock: "M12 4a8 8 0 1 0 .010 0M12 8.500v4l2.500 1.500",
  dot: "M12 12v.010",
  copy: "M9 9h11v11H9zM15 9V4H4v11h5",
  key:
    "M14.500 9.500 21 3m-3 3 2.500 2.500M15.500 14a5 5 0 1 1-6-6 5 5 0 0 1 6 6Z",
} as const;

type IconName = keyof typeof ICONS;

/** A decorative icon next to a text, hidden from screen readers. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={ICONS[name]} />
    </svg>
  );
}

/** The meaning of an alert or a badge. */
export type Kind = "success" | "danger" | "warning" | "info" | "neutral";

const KIND_ICONS: Readonly<Record<Kind, IconName>> = {
  success: "yes",
  danger: "no",
  warning: "warning",
  info: "warning",
  neutral: "dot",
};

/** The properties of {@linkcode Alert}. */
interface AlertProps extends Children {
  readonly kind: Kind;
  readonly icon?: IconName | undefined;
  readonly title?: ComponentChildren;
  /** The id of the heading. */
  readonly id?: string;
  readonly autoFocus?: boolean;
}

/** A highlighted message with an icon; its heading may take the focus. */
export function Alert(
  { kind, icon, title, id, autoFocus = false, children }: AlertProps,
) {
  const heading = useAutoFocus(autoFocus);
  return (
    <div class="notice" data-kind={kind}>
      <Icon name={icon ?? KIND_ICONS[kind]} />
      <div>
        {title && <h2 ref={heading} id={id}>{title}</h2>}
        {children}
      </div>
    </div>
  );
}

/** A state in one word, with an icon. */
export function Badge({ kind, icon, children }: Children & {
  readonly kind: Kind;
  readonly icon?: IconName | undefined;
}) {
  return (
    <span class="badge" data-kind={kind}>
      <Icon name={icon ?? KIND_ICONS[kind]} />
      {children}
    </span>
  );
}

/** A button that does not submit a form. */
export function Button(props: ButtonHTMLAttributes) {
  return <button type="button" {...props} />;
}

/** The properties of {@linkcode TextField}. */
interface TextFieldProps {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly hint?: ComponentChildren;
  /** Whether the input has several lines. */
  readonly rows?: number;
  readonly maxLength?: number;
  readonly placeholder?: string;
}

/** A text input with its label, without completion or correction. */
export function TextField(
  { id, label, value, onValue, hint, rows, ...others }: TextFieldProps,
) {
  const props = {
    ...others,
    id,
    value,
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: false,
    "aria-describedby": hint === undefined ? undefined : `${id}-hint`,
    onInput: (event: Event) =>
      onValue((event.target as HTMLInputElement).value),
  } as const;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {rows === undefined
        ? <input type="text" {...props} />
        : <textarea rows={rows} {...props} />}
      {hint !== undefined && <p id={`${id}-hint`} class="quiet">{hint}</p>}
    </div>
  );
}

/** A form with one text input; surrounding white space is removed. */
export function TextForm(
  { initial = "", button, isOff, onText, ...field }:
    & Omit<TextFieldProps, "value" | "onValue">
    & {
      readonly initial?: string;
      /** The properties of the button, such as its text. */
      readonly button: ButtonHTMLAttributes;
      /** Returns whether a text can't be sent. */
      readonly isOff?: (text: string) => boolean;
      readonly onText: (text: string) => void;
    },
) {
  const [value, setValue] = useState(initial);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onText(value.trim());
      }}
    >
      <TextField {...field} value={value} onValue={setValue} />
      <button type="submit" disabled={isOff?.(value.trim())} {...button} />
    </form>
  );
}

/** Names and values; entries without a value are omitted. */
export function Facts({ of }: {
  readonly of: Readonly<Record<string, ComponentChildren>>;
}) {
  return (
    <dl class="facts">
      {Object.entries(of).map(([name, value]) =>
        Boolean(value) && (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        )
      )}
    </dl>
  );
}

/** Short untrusted texts in a row. */
export function Chips({ texts }: { readonly texts: readonly string[] }) {
  return (
    <ul class="chips">
      {texts.map((text, i) => <li key={i}>{visibleText(text)}</li>)}
    </ul>
  );
}

/** Text as it was signed; it may scroll. */
export function Preformatted({ value, ...others }: {
  /** Text, or a value to format as JSON. */
  readonly value: unknown;
  readonly class?: string;
  readonly id?: string;
}) {
  const text = typeof value === "string"
    ? value
    : JSON.stringify(value, null, 2);
  return (
    <pre tabIndex={0} {...others}>{visibleText(text, { lines: true })}</pre>
  );
}

/** A section that is closed at first. */
export function Fold({ id, title, isOpen, class: name, children }:
  & Children
  & {
    readonly id?: string;
    readonly title: ComponentChildren;
    readonly isOpen?: boolean;
    readonly class?: string;
  }) {
  return (
    <details class={name} id={id} open={isOpen}>
      <summary>{title}</summary>
      {children}
    </details>
  );
}

/** A card with a heading, which may take the focus. */
export function Card(
  { id, title, titleId, isAnswer, autoFocus = true, children }: Children & {
    readonly id?: string;
    readonly title: ComponentChildren;
    /** The id of the heading, which then names the card. */
    readonly titleId?: string;
    /** Whether it is the only card of its view. */
    readonly isAnswer?: boolean;
    readonly autoFocus?: boolean;
  },
) {
  const heading = useAutoFocus(autoFocus);
  return (
    <section
      class={isAnswer ? "card sign-in-card" : "card"}
      id={id}
      aria-labelledby={titleId}
    >
      <h2 id={titleId} ref={heading}>{title}</h2>
      {children}
    </section>
  );
}

/** The card of a finished sign-in or invitation. */
export function Outcome(
  { cardId, text, actions, children, ...alert }: AlertProps & {
    readonly cardId?: string;
    readonly text?: ComponentChildren;
    readonly actions?: ComponentChildren;
  },
) {
  return (
    <section class="card sign-in-card" id={cardId}>
      <Alert autoFocus {...alert} id="outcome">{text && <p>{text}</p>}</Alert>
      {actions && <div class="actions">{actions}</div>}
      {children}
    </section>
  );
}

/** A card that is shown while waiting. */
export function Waiting({ text }: { readonly text: string }) {
  return (
    <section class="card sign-in-card" aria-busy="true">
      <p class="quiet">{text}</p>
    </section>
  );
}

/** A dialog that is open while it is rendered; Escape closes it. */
export function Dialog(
  { title, onClose, close = "Close", children }: Children & {
    readonly title: string;
    readonly onClose: () => void;
    /** The text of the close button. */
    readonly close?: string;
  },
) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby="dialog-title"
      onClose={({ currentTarget }) => {
        if (!currentTarget.open) onClose();
      }}
    >
      <div class="row spread">
        <h2 id="dialog-title">{title}</h2>
        <Button onClick={() => dialog.current?.close()}>{close}</Button>
      </div>
      {children}
    </dialog>
  );
}

/** A button for choosing files; they stay in the browser. */
export function OpenFiles({ id, hint, onFiles }: {
  readonly id: string;
  /** An explanation for screen readers. */
  readonly hint: string;
  readonly onFiles: (files: readonly File[]) => void;
}) {
  return (
    <>
      <label class="button file">
        Open files
        <input
          id={id}
          class="visually-hidden"
          type="file"
          multiple
          aria-describedby={`${id}-hint`}
          onChange={({ currentTarget: input }) => {
            const files = [...input.files ?? []];
            if (files.length > 0) onFiles(files);
            // Allows choosing the same files again after they were changed.
            input.value = "";
          }}
        />
      </label>
      <p id={`${id}-hint`} class="visually-hidden">{hint}</p>
    </>
  );
}
