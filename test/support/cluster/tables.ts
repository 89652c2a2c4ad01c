import type { V1DaemonSet, V1Node, V1Pod } from '@kubernetes/client-node';

interface Column {
  readonly name: string;
  /** Only with `-o wide`. */
  readonly wide?: boolean;
}

interface Printed<Kind> {
  readonly columns: readonly (Column & { readonly cell: (object: Kind) => string | number })[];
}

const pods: Printed<V1Pod> = {
  columns: [
    { name: 'Name', cell: ({ metadata }) => metadata!.name! },
    { name: 'Ready', cell: ({ status }) => `${status?.containerStatuses?.[0]?.ready ? 1 : 0}/1` },
    {
      name: 'Status',
      cell: ({ metadata, status }) =>
        metadata!.deletionTimestamp
          ? 'Terminating'
          : (status?.containerStatuses?.[0]?.state?.waiting?.reason ?? status?.phase ?? 'Unknown'),
    },
    { name: 'Restarts', cell: ({ status }) => status?.containerStatuses?.[0]?.restartCount ?? 0 },
    { name: 'Age', cell: () => '5s' },
    { name: 'IP', wide: true, cell: ({ status }) => status?.podIP ?? '<none>' },
    { name: 'Node', wide: true, cell: ({ spec }) => spec!.nodeName ?? '<none>' },
  ],
};

const daemonSets: Printed<V1DaemonSet> = {
  columns: [
    { name: 'Name', cell: ({ metadata }) => metadata!.name! },
    { name: 'Desired', cell: ({ status }) => status?.desiredNumberScheduled ?? 0 },
    { name: 'Current', cell: ({ status }) => status?.currentNumberScheduled ?? 0 },
    { name: 'Ready', cell: ({ status }) => status?.numberReady ?? 0 },
    { name: 'Up-to-date', cell: ({ status }) => status?.updatedNumberScheduled ?? 0 },
    { name: 'Available', cell: ({ status }) => status?.numberAvailable ?? 0 },
    {
      name: 'Node Selector',
      cell: ({ spec }) =>
        Object.entries(spec!.template.spec!.nodeSelector ?? {})
          .map((term) => term.join('='))
          .join(',') || '<none>',
    },
    { name: 'Age', cell: () => '5s' },
  ],
};

const nodes: Printed<V1Node> = {
  columns: [
    { name: 'Name', cell: ({ metadata }) => metadata!.name! },
    { name: 'Status', cell: () => 'Ready' },
    { name: 'Roles', cell: () => '<none>' },
    { name: 'Age', cell: () => '5d' },
    { name: 'Version', cell: () => 'v1.36.0' },
  ],
};

const PRINTED: Readonly<Record<string, Printed<never>>> = { Pod: pods, DaemonSet: daemonSets, Node: nodes };

/** An object or a list as kubectl prints it; undefined for kinds of which it prints only name and age. */
export function asTable(body: unknown): object | undefined {
  const {
    kind = '',
    metadata,
    items,
  } = body as { kind?: string; metadata?: object; items?: readonly object[] };
  const printed = PRINTED[kind.replace(/List$/, '')];
  if (!printed) return undefined;
  const objects = items ?? [body as object];
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: printed.columns.map(({ name, wide }) => ({
      name,
      type: 'string',
      format: name === 'Name' ? 'name' : '',
      description: '',
      priority: wide ? 1 : 0,
    })),
    rows: objects.map((object) => ({
      cells: printed.columns.map(({ cell }) => cell(object as never)),
      object: {
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata: (object as V1Pod).metadata,
      },
    })),
  };
}
