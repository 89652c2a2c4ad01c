import { readFileSync } from 'node:fs';
import { hostname as systemHostname } from 'node:os';
import type { Reader } from '../../adapters/cli/reader.js';
import type { AnySubcommand, ColorChoice, Request } from '../../adapters/cli/subcommand.js';
import { errorMessage } from '../../application/error-message.js';
import { UsageError } from '../../adapters/cli/usage-error.js';
import { withPort } from '../../domain/net/listen-address.js';
import { fullVersion, rawVersion, versionLine } from '../version.js';
import { parseArguments } from './arguments.js';
import { decodeConfiguration, decodeConfigurationFile, type DecodedFile } from './configuration-file.js';
import { ConfigurationError, EarlyExit } from './errors.js';
import { buildValues, valueAt, type Field, type FieldTree, type ValuesOf } from './field.js';
import { commandFlags, proxyFlags, type CommandFlags } from './flags.js';
import { withPlatformDefaults, type ProxyConfiguration } from './proxy-configuration.js';
import { resolveFeatureGates, type KubernetesVersion } from './releases.js';
import { schema, type Configuration, type KubeProxyConfiguration } from './schema.js';
import { loggingProblems, validationProblems } from './validation.js';

/** Beside the ports of kube-proxy, 10249 and 10256. */
const SCRAPE_PORT = 10246;

/** The command line and the configuration file combined. */
export interface CommandLine extends CommandFlags {
  readonly request: Request;
  /** Whether what it prints has colors. */
  readonly color: ColorChoice;
  /** The arguments as they were given, to read the configuration again with. */
  readonly argv: readonly string[];
  /** Files and folders to serve from, or to validate; none: the API server. */
  readonly manifests: readonly string[];
  /** The version to report, that of `kubernetesVersion` unless `--version=v…` is given. */
  readonly version: string;
  /** The name of the Node object of this machine. */
  readonly nodeName: string;
  readonly configuration: ProxyConfiguration;
  /** `kubernetesVersion` is configured; otherwise it follows the API server (`withRelease`). */
  readonly isReleaseSet: boolean;
  /** The values of the flags that were given, by name. */
  readonly flags: ReadonlyMap<string, unknown>;
  /** Problems that are not fatal, for the log. */
  readonly warnings: readonly string[];
}

/** The configuration in force. An edit of the file that is applied replaces it; to follow edits, read `current` each time. */
export class LiveConfiguration {
  /** Why the current file is not in force; undefined when it is. */
  problem: string | undefined;

  constructor(public current: CommandLine) {}
}

/** How a configuration is completed by the machine; what is missing is read from this one. */
export interface Machine {
  /** @throws any error when the file cannot be read */
  readonly readFile?: (path: string) => string;
  /** The host name of the operating system. */
  readonly hostname?: () => string;
  /** Of an embedding program, in the place of a file: every flag overrides it. */
  readonly configuration?: KubeProxyConfiguration | undefined;
}

/**
 * Reads the arguments after the program's name, and the configuration file they name, and checks the outcome.
 * @throws UsageError, ConfigurationError
 * @throws EarlyExit when `--help` or `--version` was handled
 */
export function parseCommandLine(
  argv: readonly string[],
  machine?: Machine,
  reader?: Reader,
  subcommands?: readonly AnySubcommand[],
): CommandLine {
  const commandLine = completeCommandLine(argv, machine, reader, subcommands);
  validateCommandLine(commandLine);
  return commandLine;
}

/**
 * The first phases of docs/internals/spec/configuration.md §1, up to the configuration of the log, which can then be opened. What is
 * returned may still be invalid.
 * @throws as `parseCommandLine`
 */
export function completeCommandLine(
  argv: readonly string[],
  machine: Machine = {},
  reader?: Reader,
  subcommands?: readonly AnySubcommand[],
): CommandLine {
  const { readFile = (path) => readFileSync(path, 'utf8'), hostname = systemHostname } = machine;
  const { request, flags, color } = parseArguments(argv, reader, subcommands);
  const options = fromFlags(commandFlags, flags);
  // Before any file is read, as kube-proxy does.
  const { release } = fromFlags({ release: schema.kubernetesVersion }, flags);
  if (options.version === 'true') throw new EarlyExit(`${versionLine(release)}\n`);
  if (options.version === 'raw') throw new EarlyExit(`${rawVersion(release)}\n`);

  const loaded = machine.configuration
    ? takeObject(machine.configuration, flags, options)
    : options.config === ''
      ? { configuration: withPortFlags(fromFlags(schema, flags), options), warnings: [], setsRelease: false }
      : loadFile(options.config, flags, readFile);
  const configuration = withPlatformDefaults({
    ...loaded.configuration,
    hostnameOverride: hostnameOverride(flags, loaded.configuration),
  });
  const { featureGates, kubernetesVersion } = configuration;
  const { gates, warnings, problems } = resolveFeatureGates(featureGates, kubernetesVersion);
  check('failed complete', problems);
  check('initialize logging', loggingProblems(configuration.logging, gates, 'logging'));
  const nodeName = (configuration.hostnameOverride || hostname()).trim().toLowerCase();
  check('', nodeName === '' ? ['empty hostname is invalid'] : []);

  return {
    ...options,
    request,
    color,
    argv,
    manifests: request.manifests ?? options.manifests,
    scrapeBindAddress: withPort(options.scrapeBindAddress, SCRAPE_PORT),
    nodeName,
    version: options.version === 'false' ? fullVersion(kubernetesVersion) : options.version,
    configuration: { ...configuration, gates },
    isReleaseSet: loaded.setsRelease || flags.has('kubernetes-version'),
    flags,
    warnings: [...deprecations(flags), ...loaded.warnings, ...warnings],
  };
}

/**
 * The command line for another release, which is not configured.
 * @throws ConfigurationError if it is invalid for that release
 */
export function withRelease(commandLine: CommandLine, release: KubernetesVersion): CommandLine {
  const { configuration, version } = commandLine;
  const { gates, problems } = resolveFeatureGates(configuration.featureGates, release);
  check('failed complete', problems);
  const completed = {
    ...commandLine,
    version: version === fullVersion(configuration.kubernetesVersion) ? fullVersion(release) : version,
    configuration: { ...configuration, kubernetesVersion: release, gates },
  };
  validateCommandLine(completed);
  return completed;
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

/** An object in the place of a file. */
function takeObject(
  given: KubeProxyConfiguration,
  flags: ReadonlyMap<string, unknown>,
  options: CommandFlags,
): DecodedFile {
  if (options.config !== '')
    throw new UsageError('--config cannot be combined with the option configuration');
  const decoded = decodeConfiguration(given);
  const configuration = withPortFlags(withFlags(decoded.configuration, flags), options);
  return { ...decoded, configuration };
}

/** The configuration of a file, with the flags that apply beside it. */
function loadFile(
  path: string,
  flags: ReadonlyMap<string, unknown>,
  readFile: (path: string) => string,
): DecodedFile {
  let text: string;
  try {
    text = readFile(path);
  } catch (error) {
    throw new ConfigurationError('failed complete', [
      `cannot read the configuration file ${path}: ${errorMessage(error)}`,
    ]);
  }
  const { configuration, warnings, setsRelease } = decodeConfigurationFile(text);
  const joined = withFlags(configuration, flags, ({ options }) => options.besideFile === true);
  return { configuration: joined, warnings, setsRelease };
}

/** @param applies whether the flag of a field has an effect here */
function withFlags(
  configuration: Configuration,
  flags: ReadonlyMap<string, unknown>,
  applies: (field: Field<unknown>) => boolean = () => true,
): Configuration {
  return buildValues(schema, (field, place) => {
    const value = valueAt(configuration, place);
    return applies(field) && flags.has(field.flag) ? field.join(flags.get(field.flag), value) : value;
  });
}

/** The deprecated port flags act on bare IPs and, when zero, on anything (docs/internals/spec/configuration.md §1.2). */
function withPortFlags(configuration: Configuration, options: CommandFlags): Configuration {
  if (options.writeConfigTo !== '') return configuration;
  const combine = (address: string, port: number): string => (port === 0 ? '' : withPort(address, port));
  return {
    ...configuration,
    healthzBindAddress: combine(configuration.healthzBindAddress, options.healthzPort),
    metricsBindAddress: combine(configuration.metricsBindAddress, options.metricsPort),
  };
}

/** A flag overrides the file and is normalized; the file's value is kept unchanged (docs/internals/spec/configuration.md §1.3). */
function hostnameOverride(flags: ReadonlyMap<string, unknown>, configuration: Configuration): string {
  const asked = String(flags.get('hostname-override') ?? '');
  if (asked === '') return configuration.hostnameOverride;
  const name = asked.trim().toLowerCase();
  if (name === '') throw new ConfigurationError('failed complete', ['empty hostname-override is invalid']);
  return name;
}

function deprecations(flags: ReadonlyMap<string, unknown>): readonly string[] {
  return [...proxyFlags.values()].flatMap(({ name, field: { options } }) =>
    options.deprecated && flags.has(name)
      ? [`Flag --${name} has been deprecated, ${options.deprecated}`]
      : [],
  );
}
