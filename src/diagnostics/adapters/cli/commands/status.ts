/** The command `status`: the health of the proxy on this node. */

import { exitCodeOf } from '../../../../adapters/cli/exit-code.js';
import type { Invocation } from '../options.js';
import { rejectOperands } from '../../../../adapters/cli/usage-error.js';
import { outputOptions, subcommand, watchOption, type OutputOptions, type WatchOptions } from '../options.js';
import { statusAnswer, type ProxyStatus } from '../../../application/status/proxy-status.js';
import type { AboutUnknown } from '../../../application/status/service-row.js';
import { inToneOf } from '../output.js';
import { show } from '../watch.js';
import { RunningProxy } from '../running-proxy.js';
import { proxyWord } from '../../../application/words.js';
import { familyWords, watchWords } from '../../../application/words.js';

/** How the proxy is. */
export const statusCommand = subcommand({
  name: 'status',
  description: 'Show the health of the proxy on this node. Problems of Services do not change it.',
  summary: 'Show the health of the proxy.',
  usage: '[flags]',
  options: [watchOption, ...outputOptions],
  request(operands, { output, watch }: OutputOptions & WatchOptions) {
    rejectOperands(operands, 'kubeproxy status');
    return { output, watch };
  },
});

/** Shows the health of the proxy running on this node. 1 when it is not ok. */
export function status({ request, configuration }: Invocation<typeof statusCommand>): Promise<number> {
  const proxy = RunningProxy.at(configuration.metricsBindAddress);
  return show<ProxyStatus & AboutUnknown, ProxyStatus>(
    request,
    () => proxy.query('/debug/status', statusAnswer),
    {
      lines: proxyStatusLines,
      exitCode: ({ state }) => exitCodeOf(state !== 'ok'),
      watched: (answer) => ({
        items: [answer],
        key: () => '',
        essence,
        text: (all, isWide) => ({ head: [], rows: all.map((one) => proxyStatusLines(one, isWide)) }),
      }),
    },
  );
}

/** All that is not different at any moment anyway. */
function essence({ time: _, lagSeconds: __, watches, ...status }: ProxyStatus): unknown {
  return { ...status, watches: watches.map(({ idleSeconds: ___, ...one }) => one) };
}

/** How many members of a list are shown unless all are wanted. */
const SHOWN = 5;

const URLS = /https?:\/\/\S+/g;

/** For people. `isWide`: every list and every URL in full. */
export function proxyStatusLines(status: ProxyStatus, isWide: boolean): readonly string[] {
  const { versions, families, startTime, time } = status;
  const level = versions.kubernetes === undefined ? '' : ` for Kubernetes ${versions.kubernetes}`;
  const listed = (label: string, texts: readonly string[]): readonly string[] => {
    const shown = isWide ? texts : texts.slice(0, SHOWN);
    const more = texts.length - shown.length;
    return [...shown, ...(more > 0 ? [`and ${more} more (-o wide)`] : [])].map(
      (text) => `  ${label}: ${text}`,
    );
  };
  return [
    `${status.node}: ${inToneOf(status.state, proxyWord(status.state))}`,
    ...status.reasons.map((reason) => `  reason: ${reason}`),
    ...(status.warnings ?? []).map((warning) => `  warning: ${warning}`),
    `  ${status.mode} mode, version ${versions.program}${level}, Node.js ${versions.nodejs}, Linux ${versions.kernel}`,
    `  running since ${startTime}, for ${duration(Date.parse(time) - Date.parse(startTime))}`,
    ...listed('waiting', status.pendingReasons),
    ...families.map((family) => `  ${family.family}: ${familyWords(family)}`),
    ...serviceLines(status),
    ...listed('ignored', status.ignored),
    ...status.watches.map((watch) => `  watch ${watch.kind}: ${watchWords(watch)}`),
    ...listed(
      'last error',
      status.lastErrors.map(({ time, message }) => `${time} ${message}`),
    ),
  ].map((line) => (isWide ? line : line.replace(URLS, withoutQuery)));
}

/** A URL, and the colon after it if there is one, without the query. */
function withoutQuery(url: string): string {
  const query = url.indexOf('?');
  return query < 0 ? url : `${url.slice(0, query)}${url.endsWith(':') ? ':' : ''}`;
}

/** How many Services are in each state, and the worst. */
function serviceLines({
  serviceCounts: { ok, warning, error },
  serviceProblems: problems,
}: ProxyStatus): readonly string[] {
  const more = warning + error - problems.length;
  return [
    `  Services: ${ok} ok, ${warning} warning, ${error} error`,
    ...problems.map(({ service, state, reason }) => `    ${inToneOf(state)}: ${service}: ${reason}`),
    ...(more > 0 ? [`    and ${more} more: kubeproxy services --problems`] : []),
  ];
}

/** `3 d 4 h`, `4 h 7 min`, `7 min 9 s`, `9 s`. */
function duration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  const units = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const;
  const first = Math.max(
    0,
    units.findIndex(([count]) => count > 0),
  );
  const shown = seconds === 0 ? units.slice(-1) : units.slice(first, first + 2);
  return shown.map(([count, unit]) => `${count} ${unit}`).join(' ');
}
