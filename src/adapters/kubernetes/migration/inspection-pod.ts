import type { SideMode } from '../../../domain/compare/side.js';
import { containerOf, flagsOf, type DaemonSet } from './daemon-set.js';

/** By which the pods of a migration are found. */
export const INSPECTION_LABELS = { 'app.kubernetes.io/managed-by': 'kubeproxy-migrate' } as const;

/** Of our image. */
const PROGRAM = '/usr/local/bin/kube-proxy';

/** What of a pod's template comes along: how it finds the API server and its image, and what it mounts. */
const KEPT = [
  'serviceAccountName',
  'imagePullSecrets',
  'priorityClassName',
  'dnsPolicy',
  'hostAliases',
  'volumes',
] as const;

export interface InspectionPodOptions {
  readonly node: string;
  readonly mode: SideMode;
  readonly moved: boolean;
  readonly image: string;
  /** The kubelet ends it then. */
  readonly deadlineSeconds: number;
}

/** A pod that looks at a node as the proxy of a DaemonSet would, once, and changes nothing there. */
export function inspectionPod(
  daemonSet: DaemonSet,
  { node, mode, moved, image, deadlineSeconds }: InspectionPodOptions,
): object {
  const template = daemonSet.spec.template.spec as Readonly<Record<string, unknown>>;
  const container = containerOf(daemonSet)!;
  const { env, imagePullPolicy, volumeMounts } = container as typeof container & Record<string, unknown>;
  const question = ['inspect', '--plan', mode, ...(moved ? ['--moved'] : []), '--output', 'json'];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: 'kubeproxy-inspect-',
      namespace: daemonSet.metadata.namespace,
      labels: INSPECTION_LABELS,
    },
    spec: {
      ...Object.fromEntries(KEPT.flatMap((name) => (name in template ? [[name, template[name]]] : []))),
      nodeName: node,
      hostNetwork: true,
      restartPolicy: 'Never',
      activeDeadlineSeconds: deadlineSeconds,
      terminationGracePeriodSeconds: 0,
      tolerations: [{ operator: 'Exists' }],
      securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'inspect',
          image,
          ...(imagePullPolicy !== undefined && { imagePullPolicy }),
          command: [PROGRAM, ...question, ...flagsOf(container)],
          ...(env !== undefined && { env }),
          ...(volumeMounts && { volumeMounts }),
          // To read the rules: NET_RAW is for iptables-legacy.
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'], add: ['NET_ADMIN', 'NET_RAW'] },
          },
        },
      ],
    },
  };
}
