import type { ServerResponse } from 'node:http';
import { stringify } from 'yaml';
import { JSON_TYPE, respond, TEXT_TYPE, type Handler } from '../http/router.js';
import { acceptedTypes, zpageFormat } from './zpage-format.js';

/** A page for people, also available in a form for machines. */
export interface Zpage {
  /** `Flagz`. */
  readonly kind: string;
  /** Names and values for people, in order. */
  readonly lines: () => readonly (readonly [name: string, value: string])[];
  /** The fields besides kind, apiVersion and metadata. */
  readonly fields: () => object;
}

const COMPONENT = 'kube-proxy';
/** What may stand between name and value. */
const SEPARATORS = [':', ': ', '=', ' '];

/** Sends the page in the requested form; 406 if there is no such form (docs/spec/server.md §9). */
export function zpageHandler(page: Zpage): Handler {
  let separator: string | undefined;
  return ({ request }, response) => {
    const format = zpageFormat(request.headers.accept, page.kind);
    if (!format) return respond(response, 406, TEXT_TYPE, `supported types: ${acceptedTypes(page.kind)}\n`);
    if (format.kind === 'text')
      return respond(response, 200, TEXT_TYPE, textOf(page, (separator ??= anySeparator())));
    const { syntax, version } = format;
    if (version === 'v1alpha1') warnOfAlpha(response, page.kind);
    const object = {
      kind: page.kind,
      apiVersion: `config.k8s.io/${version}`,
      metadata: { name: COMPONENT },
      ...page.fields(),
    };
    if (syntax === 'json') respond(response, 200, JSON_TYPE, JSON.stringify(object));
    else respond(response, 200, 'application/yaml', stringify(object));
  };
}

/** One that differs from process to process, because the text is not meant to be parsed. */
function anySeparator(): string {
  return SEPARATORS[Math.floor(Math.random() * SEPARATORS.length)]!;
}

function textOf({ kind, lines }: Zpage, separator: string): string {
  const list = lines().map(([name, value]) => `${name}${separator}${value}\n`);
  return `\n${COMPONENT} ${kind.toLowerCase()}\nWarning: this page is for people; its form is not machine parseable and may change at any time.\n\n${list.join('')}`;
}

function warnOfAlpha(response: ServerResponse, kind: string): void {
  response.setHeader(
    'Warning',
    `299 - "config.k8s.io/v1alpha1 ${kind} is superseded by config.k8s.io/v1beta1"`,
  );
}
