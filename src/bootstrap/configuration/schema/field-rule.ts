import { parseAddress } from '../../../domain/net/address.js';
import { parseCidr } from '../../../domain/net/cidr.js';
import { parsePortRange } from '../../../domain/userspace/port-allocator.js';
import { formatDuration } from '../../../application/words/duration.js';
import { hostPortProblems } from '../../../domain/net/listen-address.js';

/** A rule of docs/spec/configuration.md §4.2 about the value of one field. */
export interface FieldRule<T> {
  /** Its number there. Problems are reported in the order of these numbers. */
  readonly number: number;
  /** It applies in every mode, also where the field has no effect. */
  readonly inEveryMode?: boolean;
  /** The rule in words, for the documentation, if the meaning of the field does not say it. */
  readonly text?: string;
  /** The problems, each `path: Invalid value: value: text`. */
  problems(value: T): readonly string[];
}

const ROOT = 'KubeProxyConfiguration';
const NOT_NEGATIVE = 'must be greater than or equal to 0';
const POSITIVE = 'must be greater than 0';
const VALID_CIDR = 'must be a valid CIDR';

/** One problem, in kube-proxy's words; `path` is that of its internal types. */
export function invalid(path: string, value: unknown, text: string): string {
  return `${ROOT}.${path}: Invalid value: ${JSON.stringify(value)}: ${text}`;
}

export function within(number: number, path: string, lowest: number, highest: number): FieldRule<number> {
  const text = `must be within the range [${lowest}, ${highest}]`;
  return rule(number, path, text, (value) => value >= lowest && value <= highest);
}

export function notNegative(number: number, path: string): FieldRule<number> {
  return rule(number, path, NOT_NEGATIVE, (value) => value >= 0);
}

/** Of a duration; unset is fine. */
export function notNegativeDuration(number: number, path: string): FieldRule<number | undefined> {
  const shown = (value = 0): string => formatDuration(value);
  return rule(number, path, NOT_NEGATIVE, (value = 0) => value >= 0, shown);
}

export function positiveDuration(number: number, path: string): FieldRule<number> {
  return rule(number, path, POSITIVE, (value) => value > 0, formatDuration);
}

export function portRange(number: number, path: string): FieldRule<string> {
  const text = 'must be a port, LOW-HIGH or LOW+OFFSET, of ports up to 65535';
  return rule(number, path, text, (value) => parsePortRange(value) !== undefined);
}

export function address(number: number, path: string): FieldRule<string> {
  const text = 'not a valid textual representation of an IP address';
  return {
    ...rule(number, path, text, (value: string) => parseAddress(value) !== undefined),
    text: 'must be an IP address',
  };
}

/** One of these words or none, in the words that Kubernetes has for values it does not support. */
export function supported(number: number, path: string, words: readonly string[]): FieldRule<string> {
  const list = [...words, ''].map((word) => JSON.stringify(word)).join(', ');
  return {
    number,
    problems: (value) =>
      value === '' || words.includes(value)
        ? []
        : [`${ROOT}.${path}: Unsupported value: ${JSON.stringify(value)}: supported values: ${list}`],
  };
}

/** Empty where nothing is to listen. */
export function hostPort(number: number, path: string): FieldRule<string> {
  return {
    number,
    text: 'must be IP:port',
    problems: (value) =>
      value === '' ? [] : hostPortProblems(value).map((text) => invalid(path, value, text)),
  };
}

export function cidrs(number: number, path: string): FieldRule<readonly string[]> {
  return {
    number,
    text: 'must hold CIDRs only',
    problems: (values) => values.flatMap((value, index) => cidrProblem(path, value, index, VALID_CIDR)),
  };
}

export function cidrProblem(path: string, value: string, index: number, text: string): readonly string[] {
  return parseCidr(value) ? [] : [invalid(`${path}[${index}]`, value, text)];
}

function rule<T>(
  number: number,
  path: string,
  text: string,
  holds: (value: T) => boolean,
  shown: (value: T) => unknown = (value) => value,
): FieldRule<T> {
  return { number, text, problems: (value) => (holds(value) ? [] : [invalid(path, shown(value), text)]) };
}
