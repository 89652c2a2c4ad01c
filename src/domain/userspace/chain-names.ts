/** Service addresses, for traffic of containers and other hosts (nat PREROUTING) and of this host (nat OUTPUT). */
export const PORTALS_CONTAINER = 'KUBE-PORTALS-CONTAINER';
export const PORTALS_HOST = 'KUBE-PORTALS-HOST';
/** Node ports, likewise. */
export const NODEPORT_CONTAINER = 'KUBE-NODEPORT-CONTAINER';
export const NODEPORT_HOST = 'KUBE-NODEPORT-HOST';
/** Lets node-port traffic from outside in (filter INPUT). */
export const NODEPORT_NON_LOCAL = 'KUBE-NODEPORT-NON-LOCAL';
