import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { errorMessage } from '../../application/error-message.js';
import { fullVersion, rawVersion, versionLine } from '../version.js';
import { parseArguments } from './arguments.js';
import { commandFlags, proxyFlags, type CommandFlags } from './flags.js';
import { decodeConfigurationFile } from './configuration-file.js';
import { ConfigurationError, EarlyExit } from './errors.js';
import { resolveFeatureGates, type KubernetesVersion } from './releases.js';
import { buildValues, valueAt, type FieldTree, type ValuesOf } from './field.js';
import { withPort } from '../../domain/net/listen-address.js';
import { loggingProblems, validationProblems } from './validation.js';
import { withMode, withPlatformDefaults, type ProxyConfiguration } from './proxy-configuration.js';
import { schema, type Configuration } from './schema.js';
import type { Reader } from '../../adapters/cli/reader.js';
import type { AnySubcommand, ColorChoice, Request } from '../../adapters/cli/subcommand.js';
/** Beside the ports of kube-proxy, 10249 and 10256. */
const SCRAPE_PORT = 10246;

/** What the command line and the configuration file ask for together. */
export interface CommandLine extends CommandFlags {
  readonly request: Request;
  /** Whether what it prints has colors. */
  readonly color: ColorChoice;
  /** The arguments as they were given, to read the configuration again with. */
  readonly argv: readonly string[];
  /** Files and folders to serve from, or to validate; none: the API server. */
  readonly manifests: readonly string[];
  /** The version to report, that of `kubernetesVersion` unless `--version=v…` says otherwise. */
  readonly version: string;
  /** The name of the Node object of this machine. */
  readonly nodeName: string;
  readonly configuration: ProxyConfiguration;
  /** The values of the flags that were given, by name. */
  readonly flags: ReadonlyMap<string, unknown>;
  /** Problems that are not fatal, for the log. */
  readonly warnings: readonly string[];
}

/** How the outside is read to complete a configuration; on this machine, what is not given. */
export interface CommandLineDependencies {
  /** @throws any error when the file cannot be read */
  readonly readFile: (path: string) => string;
  /** The host name of the operating system. */
  readonly hostname: () => string;
}

const THIS_MACHINE: CommandLineDependencies = { readFile: (path) => readFileSync(path, 'utf8'), hostname };

/**
 * Reads the arguments after the program's name, and the configuration file they name, and checks the outcome.
 * @throws UsageError, ConfigurationError
 * @throws EarlyExit when `--help` or `--version` was handled
 */
export function parseCommandLine(
  argv: readonly string[],
  dependencies: Partial<CommandLineDependencies> = {},
  reader?: Reader,
  subcommands?: readonly AnySubcommand[],
): CommandLine {
  const commandLine = completeCommandLine(argv, dependencies, reader, subcommands);
  validateCommandLine(commandLine);
  return commandLine;
}

/**
 * The first phases of docs/spec/configuration.md §1, up to the configuration of the log, which can then be opened. What is
 * returned may still be invalid.
 * @throws as `parseCommandLine`
 */
export function completeCommandLine(
  argv: readonly string[],
  replacements: Partial<CommandLineDependencies> = {},
  reader?: Reader,
  subcommands?: readonly AnySubcommand[],
): CommandLine {
  const dependencies = { ...THIS_MACHINE, ...replacements };
  const { request, flags, color } = parseArguments(argv, reader, subcommands);
  const options = fromFlags(commandFlags, flags);
  answerVersion(options.version, fromFlags({ asked: schema.kubernetesVersion }, flags).asked);

  const loaded = load(options, flags, dependencies);
  const asked = chooseModeDefaults(
    withPlatformDefaults({
      ...loaded.configuration,
      hostnameOverride: hostnameOverride(flags, loaded.configuration),
    }),
  );
  const {
    gates,
    warnings: gateWarnings,
    problems,
  } = resolveFeatureGates(asked.featureGates, asked.kubernetesVersion);
  check('failed complete', problems);
  check('initialize logging', loggingProblems(asked.logging, gates, 'logging'));

  return {
    ...options,
    request,
    color,
    argv,
    manifests: request.manifests ?? options.manifests,
    scrapeBindAddress: withPort(options.scrapeBindAddress, SCRAPE_PORT),
    nodeName: nodeName(asked, dependencies),
    version: options.version === 'false' ? fullVersion(asked.kubernetesVersion) : options.version,
    configuration: { ...asked, gates },
    flags,
    warnings: [...deprecations(flags), ...loaded.warnings, ...gateWarnings],
  };
}

/** The last phase before running. @throws ConfigurationError */
export function validateCommandLine({ configuration }: CommandLine): void {
  check('failed validate', validationProblems(configuration));
}

function check(phase: ConfigurationError['phase'], problems: readonly string[]): void {
  if (problems.length > 0) throw new ConfigurationError(phase, problems);
}

function fromFlags<Tree extends FieldTree>(tree: Tree, flags: ReadonlyMap<string, unknown>): ValuesOf<Tree> {
  return buildValues(tree, (field) => flags.get(field.flag) ?? field.flagDefault);
}

function load(
  options: CommandFlags,
  flags: ReadonlyMap<string, unknown>,
  { readFile }: CommandLineDependencies,
): { readonly configuration: Configuration; readonly warnings: readonly string[] } {
  if (options.config === '') {
    return { configuration: withPortFlags(fromFlags(schema, flags), options), warnings: [] };
  }
  const { configuration, warnings } = decodeConfigurationFile(read(options.config, readFile));
  const joined = buildValues(schema, (field, path) => {
    const file = valueAt(configuration, path);
    return field.options.besideFile && flags.has(field.flag) ? field.join(flags.get(field.flag), file) : file;
  });
  return { configuration: joined, warnings };
}

function read(path: string, readFile: CommandLineDependencies['readFile']): string {
  try {
    return readFile(path);
  } catch (error) {
    throw new ConfigurationError('failed complete', [
      `cannot read the configuration file ${path}: ${errorMessage(error)}`,
    ]);
  }
}

/** The deprecated port flags act on bare IPs and, when zero, on anything (docs/spec/configuration.md §1.2). */
function withPortFlags(configuration: Configuration, options: CommandFlags): Configuration {
  if (options.writeConfigTo !== '') return configuration;
  const combine = (address: string, port: number): string => (port === 0 ? '' : withPort(address, port));
  return {
    ...configuration,
    healthzBindAddress: combine(configuration.healthzBindAddress, options.healthzPort),
    metricsBindAddress: combine(configuration.metricsBindAddress, options.metricsPort),
  };
}

function chooseModeDefaults(configuration: Configuration): Configuration {
  const { mode } = configuration;
  return mode === '' || mode === 'auto' ? configuration : withMode(configuration, mode);
}

/** A flag overrides the file and is normalized; the file's value is kept as it is (docs/spec/configuration.md §1.3). */
function hostnameOverride(flags: ReadonlyMap<string, unknown>, configuration: Configuration): string {
  const asked = String(flags.get('hostname-override') ?? '');
  if (asked === '') return configuration.hostnameOverride;
  const name = asked.trim().toLowerCase();
  if (name === '') throw new ConfigurationError('failed complete', ['empty hostname-override is invalid']);
  return name;
}

function nodeName(
  { hostnameOverride: override }: Configuration,
  dependencies: CommandLineDependencies,
): string {
  const name = (override || dependencies.hostname()).trim().toLowerCase();
  if (name === '') throw new ConfigurationError('', ['empty hostname is invalid']);
  return name;
}

/** Before any file is read, as kube-proxy does. */
function answerVersion(request: string, version: KubernetesVersion): void {
  if (request === 'true') throw new EarlyExit(`${versionLine(version)}\n`);
  if (request === 'raw') throw new EarlyExit(`${rawVersion(version)}\n`);
}

function deprecations(flags: ReadonlyMap<string, unknown>): readonly string[] {
  return [...proxyFlags.values()].flatMap(({ name, field: { options } }) =>
    options.deprecated && flags.has(name)
      ? [`Flag --${name} has been deprecated, ${options.deprecated}`]
      : [],
  );
}
