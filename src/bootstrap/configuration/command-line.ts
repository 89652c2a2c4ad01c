import { KUBERNETES_VERSION, versionLine } from '../version.js';
import { parseArguments, type CommandName } from './arguments.js';
import { commandFlags, type CommandFlags } from './command-flags.js';
import { decodeConfigurationFile } from './configuration-file.js';
import { ConfigurationError, EarlyExit } from './errors.js';
import { resolveFeatureGates } from './feature-gates.js';
import { buildValues, fieldsOf, valueAt, type FieldTree, type ValuesOf } from './field.js';
import { withPort } from './listen-address.js';
import { loggingProblems } from './logging-validation.js';
import { withMode, withPlatformDefaults, type ProxyConfiguration } from './proxy-configuration.js';
import { schema, type Configuration } from './schema.js';
import { validationProblems } from './validation.js';

/** What the command line and the configuration file together ask for. */
export interface CommandLine {
  readonly command: CommandName;
  /** Files and folders to serve from; none: the API server. */
  readonly manifests: readonly string[];
  readonly once: boolean;
  readonly nftTransport: 'auto' | 'netlink' | 'cli';
  readonly cleanup: boolean;
  readonly initOnly: boolean;
  /** URL of the API server, before the kubeconfig's. */
  readonly master?: string;
  /** The file that the configuration was read from. */
  readonly configFile?: string;
  readonly writeConfigTo?: string;
  /** The name of the Node object of this machine. */
  readonly nodeName: string;
  /** The version to report, `v1.36.0` unless `--version=v…` says otherwise. */
  readonly version: string;
  readonly configuration: ProxyConfiguration;
  /** The values of the flags that were given, by name. */
  readonly flags: ReadonlyMap<string, unknown>;
  /** What is odd but not fatal, for the log. */
  readonly warnings: readonly string[];
}

/** What of the outside is needed to complete a configuration. */
export interface Surroundings {
  /** @throws any error when the file cannot be read */
  readonly readFile: (path: string) => string;
  /** The host name of the operating system. */
  readonly hostname: () => string;
}

/**
 * Reads the arguments after the program's name, and the configuration file they name, in the order of
 * spec/configuration.md §1.
 * @throws UsageError, ConfigurationError
 * @throws EarlyExit when `--help` or `--version` has been answered
 */
export function parseCommandLine(argv: readonly string[], surroundings: Surroundings): CommandLine {
  const { command, flags } = parseArguments(argv);
  const options = fromFlags(commandFlags, flags);
  const version = answerVersion(options.version);

  const loaded = load(options, flags, surroundings);
  const asked = settleMode(
    withPlatformDefaults({
      ...loaded.configuration,
      hostnameOverride: hostnameOverride(loaded.configuration),
    }),
  );
  const { gates, warnings: gateWarnings, problems } = resolveFeatureGates(asked.featureGates);
  check('failed complete', problems);
  check('initialize logging', loggingProblems(asked.logging, gates, 'logging'));
  const configuration: ProxyConfiguration = { ...asked, gates };
  check('failed validate', validationProblems(configuration));

  return {
    command,
    manifests: options.manifests,
    once: options.once,
    nftTransport: options.nftTransport,
    cleanup: options.cleanup,
    initOnly: options.initOnly,
    ...(options.master && { master: options.master }),
    ...(options.config && { configFile: options.config }),
    ...(options.writeConfigTo && { writeConfigTo: options.writeConfigTo }),
    nodeName: nodeName(configuration, surroundings),
    version,
    configuration,
    flags,
    warnings: [...deprecations(flags), ...loaded.warnings, ...gateWarnings],
  };
}

function check(phase: ConfigurationError['phase'], problems: readonly string[]): void {
  if (problems.length > 0) throw new ConfigurationError(phase, problems);
}

function fromFlags<Tree extends FieldTree>(tree: Tree, flags: ReadonlyMap<string, unknown>): ValuesOf<Tree> {
  return buildValues(tree, (field) => flags.get(field.options.flag ?? '') ?? field.flagDefault);
}

function load(
  options: CommandFlags,
  flags: ReadonlyMap<string, unknown>,
  { readFile }: Surroundings,
): { readonly configuration: Configuration; readonly warnings: readonly string[] } {
  if (options.config === '') {
    return { configuration: withPortFlags(fromFlags(schema, flags), options), warnings: [] };
  }
  const { configuration, warnings } = decodeConfigurationFile(read(options.config, readFile));
  const joined = buildValues(schema, (field, path) => {
    const file = valueAt(configuration, path);
    const { flag = '', besideFile } = field.options;
    return besideFile && flags.has(flag) ? field.join(flags.get(flag), file) : file;
  });
  return { configuration: joined, warnings };
}

function read(path: string, readFile: Surroundings['readFile']): string {
  try {
    return readFile(path);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigurationError(
      'failed complete',
      [`cannot read the configuration file ${path}: ${reason}`],
      {
        cause,
      },
    );
  }
}

/** The deprecated port flags act on bare IPs and, when zero, on anything (spec/configuration.md §1.2). */
function withPortFlags(configuration: Configuration, options: CommandFlags): Configuration {
  if (options.writeConfigTo !== '') return configuration;
  const combine = (address: string, port: number): string => (port === 0 ? '' : withPort(address, port));
  return {
    ...configuration,
    healthzBindAddress: combine(configuration.healthzBindAddress, options.healthzPort),
    metricsBindAddress: combine(configuration.metricsBindAddress, options.metricsPort),
  };
}

function settleMode(configuration: Configuration): Configuration {
  const { mode } = configuration;
  return mode === '' || mode === 'auto' ? configuration : withMode(configuration, mode);
}

function hostnameOverride({ hostnameOverride: name }: Configuration): string {
  if (name !== '' && name.trim() === '') {
    throw new ConfigurationError('failed complete', ['empty hostname-override is invalid']);
  }
  return name.trim().toLowerCase();
}

function nodeName({ hostnameOverride: override }: Configuration, { hostname }: Surroundings): string {
  const name = (override || hostname()).trim().toLowerCase();
  if (name === '') throw new ConfigurationError('failed complete', ['empty hostname is invalid']);
  return name;
}

function answerVersion(request: string): string {
  if (request === 'true') throw new EarlyExit(`${versionLine()}\n`);
  if (request === 'raw') {
    const [major, minor] = KUBERNETES_VERSION.slice(1).split('.');
    const platform = `${process.platform}/${process.arch}`;
    throw new EarlyExit(
      `version.Info{Major:"${major}", Minor:"${minor}", GitVersion:"${KUBERNETES_VERSION}", Platform:"${platform}"}\n`,
    );
  }
  return request === 'false' ? KUBERNETES_VERSION : request;
}

function deprecations(flags: ReadonlyMap<string, unknown>): readonly string[] {
  return fieldsOf(commandFlags).flatMap(({ options }) =>
    options.deprecated && flags.has(options.flag ?? '')
      ? [`Flag --${options.flag} has been deprecated, ${options.deprecated}`]
      : [],
  );
}
