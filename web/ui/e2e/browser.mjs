// How a browser is started: as root, without a screen, and asking nobody else.
export const flags = ['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-sandbox', '--host-resolver-rules=MAP box.test 127.0.0.1']
