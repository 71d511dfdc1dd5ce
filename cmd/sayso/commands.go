package main

import "github.com/spf13/cobra"

// commands adds all commands.
func (a *app) commands(root *cobra.Command) {
	root.AddCommand(
		a.inboxCommand(), a.showCommand(), a.approveCommand(), a.denyCommand(), a.promptCommand(), a.watchCommand(), a.openCommand(),
		a.demoCommand(), a.initCommand(), a.uninstallCommand(), a.doctorCommand(), a.statusCommand(), a.whereCommand(), a.configCommand(),
		a.grantsCommand(), a.sessionCommand(), a.modeCommand(), a.lockCommand(), a.offCommand(), a.policyCommand(), a.toolsCommand(), a.noticesCommand(),
		a.logCommand(), a.backupCommand(), a.restoreCommand(),
		a.serveCommand(), a.askCommand(), a.hookCommand(), a.mcpCommand(), a.acpCommand(), a.claudeCommand(), a.codexCommand(), a.opencodeCommand(), a.callCommand(), a.tokenCommand(), a.serviceCommand(), a.versionCommand(),
	)
}
