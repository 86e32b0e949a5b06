"""MindGrad."""
