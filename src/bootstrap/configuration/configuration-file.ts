import { isMap, isScalar, LineCounter, parseAllDocuments, visit, type Document } from 'yaml';
import { parseAddress } from '../../domain/net/address.js';
import { ConfigurationError } from './errors.js';
import { buildValues, Field, valueAt, type FieldTree } from './schema/field.js';
import { isObject } from '../../domain/validation/schema.js';
import { withPort } from '../../domain/net/listen-address.js';
import { API_VERSION, KIND, schema, type Configuration } from './schema/schema.js';
import { ValueError } from './types/value-type.js';

export interface DecodedFile {
  readonly configuration: Configuration;
  readonly warnings: readonly string[];
}

const GROUP = API_VERSION.split('/')[0];

/**
 * Decodes and defaults a KubeProxyConfiguration (docs/spec/configuration.md §3, §4.1). Unknown and repeated fields are
 * ignored, the last one wins, and one warning names them.
 * @throws ConfigurationError naming every field whose value has the wrong type
 */
export function decodeConfigurationFile(content: string): DecodedFile {
  const lines = new LineCounter();
  const document = firstDocument(content, lines);
  const root: unknown = document?.toJS();
  checkKind(root);

  const unknown: string[] = [];
  const problems: string[] = [];
  compareNesting({ ...schema, ...TYPE_META }, root, '', unknown, problems);
  const configuration = buildValues(schema, (field, path) => {
    try {
      return field.fromFile(valueAt(root, path));
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
      problems.push(`${path}: ${error.message}`);
      return field.default;
    }
  });
  if (problems.length > 0) throw undecodable(problems);

  const strict = [...(document ? repeatedKeys(document, lines) : []), ...unknown];
  return {
    configuration: withListenDefaults(configuration, root),
    warnings:
      strict.length > 0
        ? [`using lenient decoding of the configuration file: strict decoding error: ${strict.join(', ')}`]
        : [],
  };
}

const TYPE_META: FieldTree = { apiVersion: {}, kind: {} };

function undecodable(problems: readonly string[]): ConfigurationError {
  return new ConfigurationError('failed complete', [`failed to decode: ${problems.join(', ')}`]);
}

/** Kubernetes reads the first document only, as YAML 1.1 (`yes` is true). */
function firstDocument(content: string, lineCounter: LineCounter): Document | undefined {
  const [document] = parseAllDocuments(content, { version: '1.1', uniqueKeys: false, lineCounter });
  if (document?.errors[0]) throw undecodable([document.errors[0].message.trimEnd()]);
  return document;
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

/** Finds names the schema does not have, and values that stand where the schema nests. */
function compareNesting(
  tree: FieldTree,
  value: unknown,
  prefix: string,
  unknown: string[],
  problems: string[],
): void {
  for (const [name, child] of Object.entries(value ?? {})) {
    const known = Object.hasOwn(tree, name) ? tree[name] : undefined;
    if (!known) unknown.push(`unknown field "${prefix}${name}"`);
    else if (known instanceof Field || (prefix === '' && name in TYPE_META) || child === null) continue;
    else if (!isObject(child))
      problems.push(`${prefix}${name}: expected a map, found ${JSON.stringify(child)}`);
    else compareNesting(known, child, `${prefix}${name}.`, unknown, problems);
  }
}

function repeatedKeys(document: Document, lines: LineCounter): readonly string[] {
  const repeated: string[] = [];
  visit(document, {
    Map(_, map) {
      if (!isMap(map)) return;
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) {
          const { line } = lines.linePos(key.range?.[0] ?? 0);
          repeated.push(`line ${line}: key "${String(key.value)}" already set in map`);
        }
        seen.add(key.value);
      }
    },
  });
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
