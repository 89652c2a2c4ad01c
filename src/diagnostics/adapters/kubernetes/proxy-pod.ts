import { fields, list, optional, text } from '../../../domain/shape.js';

export type Container = ReturnType<typeof container>;
const container = fields({
  name: text,
  image: optional(text),
  command: optional(list(text)),
  args: optional(list(text)),
});

const waiting = optional(fields({ reason: optional(text) }));

const containerStatus = fields({
  name: text,
  state: optional(fields({ running: optional(fields({})), waiting, terminated: waiting })),
});

/** The part of a Pod that is read, as it comes from the API server. */
export type Pod = ReturnType<typeof podShape>;
export const podShape = fields({
  metadata: fields({
    name: text,
    namespace: text,
    creationTimestamp: optional(text),
    deletionTimestamp: optional(text),
  }),
  spec: optional(fields({ nodeName: optional(text), containers: optional(list(container)) })),
  status: optional(fields({ phase: optional(text), containerStatuses: optional(list(containerStatus)) })),
});

/** Flags by which the program beside a proxy finds it. */
const FINDING = /^--(config|metrics-bind-address|metrics-port)(=|$)/;

/** The container of the proxy: kubeadm's DaemonSet calls it `kube-proxy`, ours `kube-proxy-ts`. */
export function proxyContainer({ spec }: Pod): Container | undefined {
  const containers = spec?.containers ?? [];
  return containers.find(({ name }) => name.startsWith('kube-proxy')) ?? containers[0];
}

/**
 * The command line of a question to the proxy in a container: the container's own program, and of its flags those by which the
 * proxy is found.
 */
export function questionLine(
  { command = [], args = [] }: Container,
  question: readonly string[],
): readonly string[] {
  const line = [...command, ...args];
  const flagsFrom = line.findIndex((word) => word.startsWith('-'));
  const program = command.length === 0 ? [] : flagsFrom === -1 ? line : line.slice(0, flagsFrom);
  const flags = line.flatMap((word, index) => {
    const [, , assigned] = FINDING.exec(word) ?? [];
    if (assigned === undefined) return [];
    return assigned === '=' ? [word] : line.slice(index, index + 2);
  });
  return [...(program.length > 0 ? program : ['kube-proxy']), ...question, ...flags];
}

/** Why nobody can be asked in a container; undefined while it runs. */
export function notRunning({ status }: Pod, container: string): string | undefined {
  const state = status?.containerStatuses?.find(({ name }) => name === container)?.state;
  if (state?.running) return undefined;
  return state?.waiting?.reason ?? state?.terminated?.reason ?? status?.phase ?? 'Unknown';
}

/** The pod to ask of those on one node: not one that is being deleted, nor one that does not run; of several the newest. */
export function podToAsk(pods: readonly Pod[]): Pod | undefined {
  const rank = (pod: Pod): string => {
    const runs = notRunning(pod, proxyContainer(pod)?.name ?? '') === undefined;
    const { deletionTimestamp, creationTimestamp = '' } = pod.metadata;
    return `${Number(runs)}${Number(deletionTimestamp === undefined)}${creationTimestamp}`;
  };
  return [...pods].sort((a, b) => (rank(a) < rank(b) ? 1 : -1))[0];
}
