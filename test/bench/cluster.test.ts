import { endpointSlice, MOST_PODS, MOST_SERVICES, node, service, serviceCidr } from '../../bench/cluster.js';

type Slice = { endpoints: { addresses: string[] }[] };

const addressesOf = (slice: object) => (slice as Slice).endpoints.map(({ addresses }) => addresses[0]);
const clusterIpOf = (object: object) => (object as { spec: { clusterIP: string } }).spec.clusterIP;

describe('the cluster that is measured', () => {
  it('is the same every time', () => {
    expect(service(7)).toEqual(service(7));
    expect(endpointSlice(7, 5)).toEqual(endpointSlice(7, 5));
    expect(node()).toEqual(node());
    expect(serviceCidr()).toEqual(serviceCidr());
  });

  it('gives every service and every endpoint an address of its own', () => {
    const indexes = Array.from({ length: 2000 }, (_, index) => index);
    expect(new Set(indexes.map((index) => clusterIpOf(service(index)))).size).toBe(2000);
    expect(new Set(indexes.flatMap((index) => addressesOf(endpointSlice(index, 3)))).size).toBe(6000);
  });

  it('replaces the first endpoint in each generation, by an address that no other endpoint has', () => {
    const [first, ...others] = addressesOf(endpointSlice(3, 5));
    const [second, ...same] = addressesOf(endpointSlice(3, 5, 1));
    const [third] = addressesOf(endpointSlice(3, 5, 2));
    expect(same).toEqual(others);
    expect(new Set([first, second, third]).size).toBe(3);
  });

  it('stays inside its ranges at the largest sizes', () => {
    expect(clusterIpOf(service(MOST_SERVICES - 1))).toMatch(/^10\.1(0\d|11)\./);
    expect(addressesOf(endpointSlice(MOST_PODS - 1, 1))[0]).toMatch(/^10\.(1[3-9]\d|2[01]\d|22[0-3])\./);
  });
});
