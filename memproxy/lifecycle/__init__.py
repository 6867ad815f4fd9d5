"""What happens over time: conversations recognised, jobs claimed, facts learned, old receipts pruned."""
