import { writeFileSync } from 'node:fs';
import {
  dump,
  EVENT_ID,
  getScalarValue,
  load,
  loadAll,
  parseEvents,
  SCALAR_STYLE,
  visit,
  YAML11_SCHEMA,
  YAMLException,
  type Event,
} from 'js-yaml';
import type { Logger } from '../../application/ports/logger.js';
import { parseAddress } from '../../domain/net/address.js';
import { withPort } from '../../domain/net/listen-address.js';
import { isObject } from '../../domain/validation/schema.js';
import { ConfigurationError } from './errors.js';
import { buildValues, Field, valueAt, type FieldTree } from './field.js';
import type { Configured } from './proxy-configuration.js';
import { API_VERSION, KIND, schema, type Configuration, type KubeProxyConfiguration } from './schema.js';
import { ValueError } from './value-types.js';

export interface DecodedFile {
  readonly configuration: Configuration;
  readonly warnings: readonly string[];
  /** The file sets the release of Kubernetes. */
  readonly setsRelease: boolean;
}

const GROUP = API_VERSION.split('/')[0];
const TYPE_META = ['apiVersion', 'kind'];

/**
 * Decodes and defaults a KubeProxyConfiguration (docs/internals/spec/configuration.md §3, §4.1). Unknown and repeated fields are
 * ignored, the last one wins, and one warning names them.
 * @throws ConfigurationError naming every field whose value has the wrong type
 */
export function decodeConfigurationFile(content: string): DecodedFile {
  const { unknown, ...decoded } = decode(firstDocument(content));
  const strict = [...repeatedKeys(content), ...unknown];
  return {
    ...decoded,
    warnings:
      strict.length > 0
        ? [`using lenient decoding of the configuration file: strict decoding error: ${strict.join(', ')}`]
        : [],
  };
}

/**
 * Decodes and defaults an object as the file that it would be, but strictly: an unknown field is an error, too.
 * @throws ConfigurationError
 */
export function decodeConfiguration(given: KubeProxyConfiguration): DecodedFile {
  const { unknown, ...decoded } = decode({ apiVersion: API_VERSION, kind: KIND, ...given });
  if (unknown.length > 0) throw undecodable([`strict decoding error: ${unknown.join(', ')}`]);
  return { ...decoded, warnings: [] };
}

interface Decoded extends Omit<DecodedFile, 'warnings'> {
  /** A text about each field that does not exist. */
  readonly unknown: readonly string[];
}

function decode(root: unknown): Decoded {
  checkKind(root);
  const unknown: string[] = [];
  const problems: string[] = [];
  const configuration = decodeFields(schema, root, '', unknown, problems) as Configuration;
  if (problems.length > 0) throw undecodable(problems);
  return {
    configuration: withListenDefaults(configuration, root),
    setsRelease: (root as Readonly<Record<string, unknown>>).kubernetesVersion != null,
    // Kubernetes sorts the fields before it decodes them.
    unknown: unknown.sort(),
  };
}

/**
 * The configuration in effect as a KubeProxyConfiguration v1alpha1, ready for JSON or YAML: for `--write-config-to` and
 * /configz (docs/internals/spec/configuration.md §3.1, §5). Names are sorted at every level. What kube-proxy keeps only for the mode
 * in force is zero for the others; if `nftables.minSyncPeriod` is not configured, kube-proxy's default is shown.
 */
export function effectiveConfiguration({ configuration }: Configured): Readonly<Record<string, unknown>> {
  const mode = configuration.mode || 'iptables';
  const values = buildValues(schema, (field, path) =>
    isForgotten(field, mode) ? field.options.elsewhere : field.toFile(valueAt(configuration, path)),
  );
  return sorted({ ...values, mode, apiVersion: API_VERSION, kind: KIND });
}

/** The configuration in effect as YAML, in the style in which kube-proxy writes it (docs/internals/spec/configuration.md §5). */
export function configurationText(commandLine: Configured): string {
  return dump(effectiveConfiguration(commandLine), {
    seqNoIndent: true,
    lineWidth: -1,
    noRefs: true,
    transform: (documents) =>
      visit(documents, (node) => {
        if (node.kind === 'scalar' && node.tag === 'tag:yaml.org,2002:str' && looksLikeOther(node.value))
          node.style = SCALAR_STYLE.DOUBLE_QUOTED;
      }),
  });
}

/** Writes the configuration in effect to the file that `--write-config-to` names. Nothing else is touched. */
export function writeConfiguration(
  commandLine: Configured & { readonly writeConfigTo: string },
  logger: Logger,
): void {
  const { writeConfigTo: file } = commandLine;
  try {
    writeFileSync(file, configurationText(commandLine));
  } catch (cause) {
    throw new Error(`cannot write the configuration to ${file}`, { cause });
  }
  logger.info({ file }, 'wrote configuration');
}

function undecodable(problems: readonly string[]): ConfigurationError {
  return new ConfigurationError('failed complete', [`failed to decode: ${problems.join(', ')}`]);
}

/** Kubernetes reads the first document only, as YAML 1.1 (`yes` is true). */
function firstDocument(content: string): unknown {
  try {
    return loadAll(content, { schema: YAML11_SCHEMA, json: true })[0];
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const { mark, reason } = error;
    throw undecodable([mark ? `${reason} at line ${mark.line + 1}, column ${mark.column + 1}` : reason]);
  }
}

function checkKind(root: unknown): void {
  const { kind, apiVersion } = isObject(root) ? root : {};
  if (!kind) throw undecodable([`Object 'Kind' is missing in '${JSON.stringify(root ?? null)}'`]);
  if (!apiVersion) throw undecodable([`Object 'apiVersion' is missing in '${JSON.stringify(root)}'`]);
  if (kind !== KIND || apiVersion !== API_VERSION) {
    const hint = String(apiVersion).startsWith(`${GROUP}/`) && kind === KIND ? `; use ${API_VERSION}` : '';
    throw undecodable([`no kind "${String(kind)}" is registered for version "${String(apiVersion)}"${hint}`]);
  }
}

/** Decodes what stands below `prefix`, and finds unknown names and values that do not fit. */
function decodeFields(
  tree: FieldTree,
  given: unknown,
  prefix: string,
  unknown: string[],
  problems: string[],
): object {
  const values = isObject(given) ? given : {};
  for (const name of Object.keys(values))
    if (!Object.hasOwn(tree, name) && !(prefix === '' && TYPE_META.includes(name)))
      unknown.push(`unknown field "${prefix}${name}"`);
  const decoded = Object.entries(tree).map(([name, child]) => {
    const path = prefix + name;
    const value = values[name] ?? undefined;
    if (!(child instanceof Field)) {
      if (value !== undefined && !isObject(value))
        problems.push(`${path}: expected a map, found ${JSON.stringify(value)}`);
      return [name, decodeFields(child, value, `${path}.`, unknown, problems)];
    }
    try {
      return [name, child.fromFile(value)];
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
      problems.push(`${path}: ${error.message}`);
      return [name, child.default];
    }
  });
  return Object.fromEntries(decoded);
}

/** In the first document. */
function repeatedKeys(content: string): readonly string[] {
  const events = parseEvents(content, {}).values();
  const repeated: string[] = [];
  /** Undefined at the end of what contains it. */
  const read = (): Event | undefined => {
    const event = events.next().value;
    if (!event || event.type === EVENT_ID.POP) return undefined;
    if (event.type === EVENT_ID.DOCUMENT || event.type === EVENT_ID.SEQUENCE) while (read()) continue;
    if (event.type !== EVENT_ID.MAPPING) return event;
    const seen = new Set<string>();
    for (let key = read(); key; key = read()) {
      if (key.type === EVENT_ID.SCALAR) {
        const name = getScalarValue(content, key);
        const line = content.slice(0, key.valueStart).split('\n').length;
        if (seen.has(name)) repeated.push(`line ${line}: key "${name}" already set in map`);
        seen.add(name);
      }
      read();
    }
    return event;
  };
  read();
  return repeated;
}

/** The listen addresses that the file leaves open follow the family of `bindAddress`; bare IPs get the usual port. */
function withListenDefaults(configuration: Configuration, root: unknown): Configuration {
  const onIPv4 = parseAddress(configuration.bindAddress)?.family === 'IPv4';
  const address = (name: 'healthzBindAddress' | 'metricsBindAddress', onIPv6: string, port: number): string =>
    !valueAt(root, name) && !onIPv4 ? onIPv6 : withPort(configuration[name], port);
  return {
    ...configuration,
    healthzBindAddress: address('healthzBindAddress', '[::]:10256', 10256),
    metricsBindAddress: address('metricsBindAddress', '[::1]:10249', 10249),
  };
}

/** Whether a reader would take the text without quotes for null, a boolean or a number. */
function looksLikeOther(text: string): boolean {
  try {
    const value = load(text, { schema: YAML11_SCHEMA });
    return typeof value !== 'string' && (value === null || typeof value !== 'object');
  } catch {
    return text === '';
  }
}

/** With `auto`, any of the modes may become the present one. */
function isForgotten({ options: { modes, elsewhere } }: Field<unknown>, mode: string): boolean {
  return elsewhere !== undefined && mode !== 'auto' && modes !== undefined && !modes.includes(mode);
}

function sorted(values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => [name, isObject(value) ? sorted(value) : value]),
  );
}
