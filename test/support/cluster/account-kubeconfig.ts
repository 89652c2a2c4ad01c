import { stringify } from 'yaml';
import { ACCOUNT_MOUNT } from './pod-volumes.js';
import { CONTROL_PLANE } from './stand-in-cluster.js';

/** The kubeconfig that installers give kube-proxy: the control plane, as the pod's service account. */
export function accountKubeconfig(): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        cluster: {
          'certificate-authority': `${ACCOUNT_MOUNT.mountPath}/ca.crt`,
          server: `https://${CONTROL_PLANE.address}:${CONTROL_PLANE.port}`,
        },
        name: 'default',
      },
    ],
    contexts: [{ context: { cluster: 'default', namespace: 'default', user: 'default' }, name: 'default' }],
    'current-context': 'default',
    users: [{ name: 'default', user: { tokenFile: `${ACCOUNT_MOUNT.mountPath}/token` } }],
  });
}
