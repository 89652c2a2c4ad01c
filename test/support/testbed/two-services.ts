import type { TestService } from './cluster-objects.js';

/** A Service with a node port, and another one beside it. */
export const web: TestService = {
  name: 'web',
  clusterIP: '172.30.20.6',
  ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 30186 }],
  endpoints: ['10.244.1.11', '10.244.1.12'],
};
export const other: TestService = {
  ...web,
  name: 'other',
  clusterIP: '172.30.20.7',
  ports: [{ ...web.ports[0]!, nodePort: 30187 }],
};
