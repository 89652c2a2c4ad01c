import type { IncomingMessage, ServerResponse } from 'node:http';
import { dump } from 'js-yaml';
import type { Clock } from '../../application/ports/clock.js';
import { HTML_TYPE, JSON_TYPE, respond, TEXT_TYPE, type Handler, type Routes } from './router.js';

/** The self-description of a Kubernetes component. */
export interface Component {
  /** `v1.37.0`. */
  readonly version: string;
  readonly proxyMode: string;
  readonly clock: Clock;
  /** The active KubeProxyConfiguration, including edits of the file. */
  readonly configuration: () => Readonly<Record<string, unknown>>;
  /** Counts health checks. */
  readonly checks: { checked(type: string, name: string, ok: boolean): void };
  /** All flags with their values. Undefined: there is no `/flagz`. */
  readonly flags?: (() => readonly NamedValue[]) | undefined;
  /** A line above the flags in the text for people. Undefined: none. */
  readonly flagsNote?: string | undefined;
  /** The other paths of the server, which `/statusz` lists. Undefined: there is no `/statusz`. */
  readonly otherPaths?: readonly string[] | undefined;
  /** Sets the verbosity of the log. Undefined: there is no `/debug/flags`. */
  readonly setVerbosity?: ((verbosity: number) => void) | undefined;
}

/** The routes of the metrics server of every Kubernetes component, besides metrics (docs/internals/spec/server.md §9). */
export function componentRoutes(component: Component): Routes {
  const { proxyMode, configuration, flags, otherPaths, setVerbosity } = component;
  const routes: Routes = {
    '/healthz': healthHandler(component.checks),
    '/healthz/ping': (_, response) => respond(response, 200, TEXT_TYPE, 'ok'),
    '/proxyMode': (_, response) => respond(response, 200, TEXT_TYPE, proxyMode),
    '/configz': (_, response) =>
      respond(response, 200, JSON_TYPE, JSON.stringify({ 'kubeproxy.config.k8s.io': configuration() })),
    ...(flags && {
      '/flagz': zpageHandler(
        'Flagz',
        flags,
        () => ({ flags: Object.fromEntries(flags()) }),
        component.flagsNote,
      ),
    }),
  };
  return {
    ...routes,
    ...(otherPaths && { '/statusz': statusHandler(component, [...otherPaths, ...Object.keys(routes)]) }),
    ...(setVerbosity && logFlagRoutes(setVerbosity)),
  };
}

type NamedValue = readonly [name: string, value: string];

const COMPONENT = 'kube-proxy';
const GROUP = 'config.k8s.io';
const VERSIONS = ['v1alpha1', 'v1beta1'];
/** Separators between name and value on a page for people. */
const SEPARATORS = [':', ': ', '=', ' '];
/** Bytes of the body of a request. */
const LONGEST_BODY = 1024;

/**
 * Shows that the process responds, not that the proxy is healthy. The only check, `ping`, always passes; `?verbose` lists it and
 * `?exclude=ping` excludes it.
 */
function healthHandler(checks: Component['checks']): Handler {
  return ({ parameters }, response) => {
    const excluded = new Set(parameters.getAll('exclude').filter((name) => name !== ''));
    const isExcluded = excluded.delete('ping');
    const lines = [isExcluded ? '[+]ping excluded: ok' : '[+]ping ok'];
    if (!isExcluded) checks.checked('healthz', 'ping', true);
    if (excluded.size > 0) {
      const names = [...excluded].sort().map((name) => JSON.stringify(name));
      lines.push(`warn: some health checks cannot be excluded: no matches for ${names.join(', ')}`);
    }
    const text = `${lines.join('\n')}\nhealthz check passed\n`;
    respond(response, 200, TEXT_TYPE, parameters.has('verbose') ? text : 'ok');
  };
}

function statusHandler({ version, clock }: Component, served: readonly string[]): Handler {
  const startTime = clock.now();
  const paths = [...new Set(served.map((path) => `/${path.split('/', 2)[1]}`))].sort();
  const binaryVersion = version.slice(1);
  const emulationVersion = binaryVersion.split('.', 2).join('.');
  const goVersion = `node ${process.version}`;
  const uptime = (): number => Math.floor((clock.now() - startTime) / 1000);
  return zpageHandler(
    'Statusz',
    () => [
      ['Started', unixDate(startTime)],
      ['Up', upTime(uptime())],
      ['Go version', goVersion],
      ['Binary version', binaryVersion],
      ['Emulation version', emulationVersion],
      ['Paths', paths.join(' ')],
    ],
    () => ({
      startTime: new Date(startTime).toISOString().replace(/\.\d+/, ''),
      uptimeSeconds: uptime(),
      goVersion,
      binaryVersion,
      emulationVersion,
      paths,
    }),
  );
}

/**
 * A page for people, also available in a form for machines. Sends the requested form; 406 if there is no such form.
 * @param lines names and values for people, in order
 * @param fields those of the form for machines, besides kind, apiVersion and metadata
 * @param note a line for people above them
 */
function zpageHandler(
  kind: string,
  lines: () => readonly NamedValue[],
  fields: () => object,
  note?: string,
): Handler {
  let separator: string | undefined;
  return ({ request }, response) => {
    const form = requestedForm(request.headers.accept, kind);
    if (!form) return respond(response, 406, TEXT_TYPE, `supported types: ${supportedTypes(kind)}\n`);
    if (form === 'text') {
      // It differs from process to process, because the text is not meant to be parsed.
      separator ??= SEPARATORS[Math.floor(Math.random() * SEPARATORS.length)]!;
      return respond(response, 200, TEXT_TYPE, textForPeople(kind, lines(), separator, note));
    }
    const { syntax, version } = form;
    if (version === 'v1alpha1') warnOfAlpha(response, kind);
    const apiVersion = `${GROUP}/${version}`;
    const object = { kind, apiVersion, metadata: { name: COMPONENT }, ...fields() };
    if (syntax === 'json') respond(response, 200, JSON_TYPE, JSON.stringify(object));
    else
      respond(
        response,
        200,
        'application/yaml',
        dump(object, { lineWidth: -1, noRefs: true, skipInvalid: true }),
      );
  };
}

/**
 * The form that the Accept header requests: text by default; JSON or YAML only with parameters that name the version, group and
 * kind, as in `application/json;v=v1beta1;g=config.k8s.io;as=Flagz`. Undefined if there is none.
 */
function requestedForm(
  accept: string | undefined,
  kind: string,
): 'text' | { readonly syntax: 'json' | 'yaml'; readonly version: string } | undefined {
  if (accept === undefined || accept.trim() === '') return 'text';
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    if (['text/plain', 'text/*', '*/*'].includes(type)) return 'text';
    const given = new Map(parameters.map((parameter) => parameter.split('=', 2) as [string, string]));
    const version = given.get('v') ?? '';
    const isKnown = given.get('g') === GROUP && given.get('as') === kind.toLowerCase();
    if (!isKnown || !VERSIONS.includes(version)) continue;
    if (type === 'application/json') return { syntax: 'json', version };
    if (type === 'application/yaml') return { syntax: 'yaml', version };
  }
  return undefined;
}

function supportedTypes(kind: string): string {
  const structured = ['json', 'yaml'].map(
    (syntax) => `application/${syntax};v=v1beta1;g=${GROUP};as=${kind}`,
  );
  return ['text/plain', ...structured].join(', ');
}

function textForPeople(
  kind: string,
  values: readonly NamedValue[],
  separator: string,
  note?: string,
): string {
  const list = values.map(([name, value]) => `${name}${separator}${value}\n`);
  return `\n${COMPONENT} ${kind.toLowerCase()}\nWarning: this page is for people; its form is not machine parseable and may change at any time.\n${note === undefined ? '' : `Note: ${note}\n`}\n${list.join('')}`;
}

function warnOfAlpha(response: ServerResponse, kind: string): void {
  const text = `299 - "${GROUP}/v1alpha1 ${kind} is superseded by ${GROUP}/v1beta1"`;
  response.setHeader('Warning', text);
}

/** As `date -u` prints it: `Fri Sep  6 06:19:51 UTC 2024`. */
function unixDate(milliseconds: number): string {
  const utc = new Date(milliseconds).toUTCString().replace(',', '');
  const [weekday = '', day = '', month = '', year = '', time = ''] = utc.split(' ');
  return `${weekday} ${month} ${String(Number(day)).padStart(2)} ${time} UTC ${year}`;
}

/** `3 hr 07 min 09 sec`. */
function upTime(seconds: number): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${Math.floor(seconds / 3600)} hr ${two(Math.floor(seconds / 60) % 60)} min ${two(seconds % 60)} sec`;
}

/** Flags that can be changed at run time, which is only the log verbosity. */
function logFlagRoutes(setVerbosity: (verbosity: number) => void): Routes {
  const list =
    '<html><head><title>/debug/flags/</title></head><body><p>/debug/flags/</p><a href="/debug/flags/v">v</a></body></html>\n';
  const index: Handler = (_, response) => respond(response, 200, HTML_TYPE, list);
  return {
    '/debug/flags': index,
    '/debug/flags/': index,
    '/debug/flags/v': async ({ method, request }, response) => {
      if (method !== 'PUT')
        return respond(response, 406, TEXT_TYPE, `PUT sets the verbosity; ${method} does nothing\n`);
      const text = (await readBody(request)).trim();
      if (!/^-?\d{1,9}$/.test(text)) {
        const problem = `the verbosity must be a whole number, not ${JSON.stringify(text)}\n`;
        return respond(response, 400, TEXT_TYPE, problem);
      }
      setVerbosity(Number(text));
      respond(response, 200, TEXT_TYPE, `successfully set klog.logging.verbosity to ${text}`);
    },
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) {
    text += String(chunk);
    if (text.length > LONGEST_BODY) break;
  }
  return text;
}
